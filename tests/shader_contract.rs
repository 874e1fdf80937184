//! The contract between host and shaders, checked without a GPU: every text that a host can assemble is valid WGSL and
//! can be written for Vulkan, Metal and Direct3D, and structs are laid out alike on both sides.

use fastz::gpu::kernel::reflect;
use fastz::gpu::layout::{
    Field, GpuStruct, Hull, Params, RelaxedVerdict, Script, SideBounds, Span, Stripe, StripePlan, Task, Verdict,
};
use fastz::gpu::seeding::layout::{Candidate, SeedParams};
use fastz::gpu::shaders::{Shader, assemble, requirements};
use fastz::gpu::variant::Variant;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// The forms that adapters of all widths get for LASTZ's default scores, and the smallest and largest.
fn variants(shader: Shader) -> Vec<Variant> {
    let (subgroup, workgroup) = (Variant::subgroup, Variant::workgroup);
    let is_relaxed = [Shader::RelaxedInspector, Shader::RelaxedExecutor, Shader::RelaxedTraceback].contains(&shader);
    let mut variants = vec![
        Variant { stripe_rows: 16, ..subgroup(32, 24) },
        Variant { target_pages: 3, ..subgroup(32, 24) },
        Variant { is_bounded: true, ..subgroup(32, 24) },
        Variant { is_bounded: true, ..subgroup(8, 128) },
        Variant { is_bounded: true, ..workgroup(64, 32) },
        Variant { stripe_rows: 4, ..subgroup(32, 8) },
        Variant { stripe_rows: 8, ..subgroup(4, 8) },
        Variant { stripe_rows: 8, ..subgroup(8, 8) },
        Variant { stripe_rows: 8, ..workgroup(32, 8) },
        Variant { stripe_rows: 4, ..subgroup(64, 8) },
        Variant { stripe_rows: 1, ..workgroup(256, 8) },
        Variant { stripe_rows: 8, has_eager_tile: false, ..subgroup(32, 8) },
        Variant { stripe_rows: 8, has_cyclic_buffers: false, ..subgroup(32, 8) },
        subgroup(4, 8),
        subgroup(8, 96),
        Variant { sweeps_plain_rows: true, ..subgroup(8, 96) },
        Variant { sweeps_plain_rows: true, is_bounded: true, ..subgroup(8, 128) },
        subgroup(16, 48),
        subgroup(32, 8),
        subgroup(32, 24),
        subgroup(32, 32),
        subgroup(64, 16),
        workgroup(32, 24),
        workgroup(64, 16),
        workgroup(128, 8),
        workgroup(256, 32),
    ];
    variants.retain(|variant| variant.is_relaxed() || !is_relaxed);
    variants
}

fn parse(shader: Shader, variant: &Variant) -> (naga::Module, naga::valid::ModuleInfo) {
    let text = assemble(shader, variant);
    let module = naga::front::wgsl::parse_str(&text.text).unwrap_or_else(|error| {
        let line = error.location(&text.text).map_or(0, |location| location.line_number);
        panic!("{} ({variant}) {}: {}", shader.name(), text.origin(line), error.emit_to_string(&text.text))
    });
    let info =
        Validator::new(ValidationFlags::all(), Capabilities::SUBGROUP).validate(&module).unwrap_or_else(|error| {
            let line = error.location(&text.text).map_or(0, |location| location.line_number);
            panic!("{} ({variant}) {}: {}", shader.name(), text.origin(line), error.emit_to_string(&text.text))
        });
    (module, info)
}

#[test]
fn every_text_is_valid_and_can_be_written_for_all_backends() {
    for shader in Shader::ALL {
        for variant in variants(shader) {
            let (module, info) = parse(shader, &variant);
            let what = format!("{} ({variant})", shader.name());
            let options = naga::back::spv::Options { lang_version: (1, 3), ..Default::default() };
            naga::back::spv::write_vec(&module, &info, &options, None)
                .unwrap_or_else(|e| panic!("{what}: SPIR-V: {e}"));
            let options =
                naga::back::msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
            naga::back::msl::write_string(&module, &info, &options, &Default::default())
                .unwrap_or_else(|e| panic!("{what}: MSL: {e}"));
            let options = naga::back::hlsl::Options {
                shader_model: naga::back::hlsl::ShaderModel::V6_4,
                fake_missing_bindings: true,
                ..Default::default()
            };
            let pipeline_options = Default::default();
            let mut hlsl = String::new();
            naga::back::hlsl::Writer::new(&mut hlsl, &options, &pipeline_options)
                .write(&module, &info, None)
                .unwrap_or_else(|e| panic!("{what}: HLSL: {e}"));
        }
    }
}

#[test]
fn kernels_stay_within_the_limits_that_webgpu_grants() {
    for shader in Shader::ALL {
        for variant in variants(shader) {
            let (module, _) = parse(shader, &variant);
            let entry = &module.entry_points[0];
            assert_eq!(module.entry_points.len(), 1, "{}", shader.name());
            assert!(entry.workgroup_size.iter().product::<u32>() <= 256, "{} ({variant})", shader.name());
            let bindings = reflect(&assemble(shader, &variant)).unwrap();
            let storage = bindings.iter().filter(|b| b.kind != fastz::gpu::kernel::BindingKind::Uniform).count();
            // The kept rows are one more than WebGPU grants; what drivers offer is tens.
            let granted = if shader == Shader::RelaxedExecutor { 9 } else { 8 };
            // Further pages of the target's bases are asked for only where there is room for them.
            let granted = granted + variant.target_pages as usize - 1;
            assert!(storage <= granted, "{} has {storage} storage buffers", shader.name());
            let workgroup_bytes: u32 = module
                .global_variables
                .iter()
                .filter(|(_, variable)| variable.space == naga::AddressSpace::WorkGroup)
                .map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()))
                .sum();
            assert!(workgroup_bytes <= 16 << 10, "{} ({variant}): {workgroup_bytes} bytes", shader.name());
        }
    }
}

#[test]
fn structs_are_laid_out_alike_on_both_sides() {
    // A form that all kernels have.
    let variant = Variant { stripe_rows: 8, ..Variant::subgroup(32, 24) };
    let modules: Vec<naga::Module> = Shader::ALL.iter().map(|&shader| parse(shader, &variant).0).collect();
    compare::<Params>(&modules);
    compare::<Task>(&modules);
    compare::<Verdict>(&modules);
    compare::<Hull>(&modules);
    compare::<Span>(&modules);
    compare::<Script>(&modules);
    compare::<SideBounds>(&modules);
    compare::<RelaxedVerdict>(&modules);
    compare::<Stripe>(&modules);
    compare::<StripePlan>(&modules);
    compare::<SeedParams>(&modules);
    compare::<Candidate>(&modules);
}

fn compare<T: GpuStruct>(modules: &[naga::Module]) {
    let mut found = false;
    for module in modules {
        let Some((_, wgsl)) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(T::NAME)) else { continue };
        let naga::TypeInner::Struct { members, span } = &wgsl.inner else { panic!("{} is no struct", T::NAME) };
        let fields: Vec<(&str, &str, usize)> = members
            .iter()
            .map(|member| {
                let wgsl_type = match module.types[member.ty].inner {
                    naga::TypeInner::Scalar(naga::Scalar::U32) => "u32",
                    naga::TypeInner::Scalar(naga::Scalar::I32) => "i32",
                    ref other => panic!("{}.{:?} is {other:?}", T::NAME, member.name),
                };
                (member.name.as_deref().unwrap_or_default(), wgsl_type, member.offset as usize)
            })
            .collect();
        let ours: Vec<_> =
            T::FIELDS.iter().map(|&Field { name, wgsl_type, offset }| (name, wgsl_type, offset)).collect();
        assert_eq!(fields, ours, "{}", T::NAME);
        assert_eq!(*span as usize, size_of::<T>(), "{}", T::NAME);
        found = true;
    }
    assert!(found, "no kernel uses {}", T::NAME);
}

#[test]
fn kernel_files_open_with_their_header() {
    for shader in Shader::ALL {
        let source = shader.source();
        assert!(source.starts_with(&format!("// {}: ", shader.name())), "{}", shader.name());
        for key in ["paper", "twin", "grid", "reads", "writes", "requires"] {
            assert!(source.contains(&format!("\n// {key}: ")), "{} says nothing about {key}", shader.name());
        }
        assert!(requirements(source).contains(&"layout"), "{}", shader.name());
    }
}
