//! Why there is no hardware adapter, in plain words: what a look at the Vulkan loader and the drivers shows (Linux).

use std::fmt::Write;
use std::path::PathBuf;

/// What was found on this machine.
#[derive(Debug, Default)]
struct Findings {
    /// The loader cannot be opened: the system's word.
    broken_loader: Option<String>,
    /// A variable that names the drivers, and its value.
    variable: Option<(&'static str, String)>,
    /// Files that describe drivers.
    drivers: Vec<Driver>,
    /// NVIDIA's kernel module is loaded.
    has_nvidia: bool,
    /// Device files that exist but may not be opened.
    forbidden: Vec<PathBuf>,
}

/// A file that describes a Vulkan driver.
#[derive(Debug)]
struct Driver {
    file: PathBuf,
    /// Why it is no use, if so.
    trouble: Option<String>,
}

/// What can be said about a machine without a hardware adapter. Empty if nothing is out of order.
pub(super) fn explain(has_software: bool) -> String {
    if cfg!(target_os = "linux") { look::findings().text(has_software) } else { String::new() }
}

impl Findings {
    fn text(&self, has_software: bool) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        if let Some(reason) = &self.broken_loader {
            let _ = writeln!(
                text,
                "- The Vulkan loader cannot be opened ({reason}). Install it: the package is libvulkan1 on Debian and \
                 Ubuntu, vulkan-loader on Fedora, vulkan-icd-loader on Arch."
            );
        }
        if let Some((name, value)) = &self.variable {
            let _ = writeln!(text, "- {name}={value} replaces the system's list of drivers. Without it all are used.");
        }
        for Driver { file, trouble } in &self.drivers {
            if let Some(trouble) = trouble {
                let _ = writeln!(text, "- The driver {} is no use: {trouble}.", file.display());
            }
        }
        if self.drivers.is_empty() {
            text.push_str(
                "- No Vulkan driver is registered. Install the GPU's (NVIDIA: with its graphics libraries; AMD and Intel: \
                 mesa-vulkan-drivers, which has a software adapter too).\n",
            );
        }
        if self.has_nvidia && !self.drivers.iter().any(Driver::is_usable_nvidia) {
            text.push_str(
                "- NVIDIA's kernel module is loaded, but its Vulkan driver cannot be used. In a container, start it with \
                 NVIDIA_DRIVER_CAPABILITIES=all (or with `graphics` among them) and install libvulkan1, libegl1 and \
                 libgl1. Where nvidia_icd.json lies in an unusual place, name it in VK_DRIVER_FILES. A driver library \
                 that needs X11 (libGLX_nvidia.so.0) has a headless twin: name libEGL_nvidia.so.0 in a copy of that \
                 file.\n",
            );
        }
        for path in &self.forbidden {
            let _ = writeln!(
                text,
                "- {} may not be opened by this user. Its group (often `render` or `video`) may: become a member, or pass \
                 the device to the container.",
                path.display()
            );
        }
        let is_in_order = self.broken_loader.is_none() && self.drivers.iter().any(|driver| driver.trouble.is_none());
        if is_in_order && !has_software && text.is_empty() {
            text.push_str("- Loader and drivers are in order, but no driver found a device that it knows.\n");
        }
        text
    }
}

impl Driver {
    fn is_usable_nvidia(&self) -> bool {
        self.trouble.is_none() && self.file.to_string_lossy().contains("nvidia")
    }
}

mod look {
    //! The look itself.

    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Driver, Findings};

    pub fn findings() -> Findings {
        let variable = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
            .into_iter()
            .find_map(|name| Some((name, std::env::var(name).ok().filter(|value| !value.is_empty())?)));
        let files = match &variable {
            Some((_, list)) => std::env::split_paths(list).flat_map(manifests_at).collect(),
            None => registered(),
        };
        Findings {
            broken_loader: trouble_with_library("libvulkan.so.1".as_ref()),
            drivers: files.into_iter().map(driver).collect(),
            variable,
            has_nvidia: Path::new("/proc/driver/nvidia/version").exists(),
            forbidden: forbidden_nodes(),
        }
    }

    /// The places where the loader looks.
    fn registered() -> Vec<PathBuf> {
        let folders = |variable: &str, otherwise: &str| {
            let value = std::env::var(variable).ok().filter(|value| !value.is_empty());
            std::env::split_paths(&value.unwrap_or(otherwise.to_string())).collect::<Vec<_>>()
        };
        let home = std::env::var("HOME").unwrap_or_default();
        [
            folders("XDG_CONFIG_HOME", &format!("{home}/.config")),
            folders("XDG_CONFIG_DIRS", "/etc/xdg"),
            vec!["/etc".into()],
            folders("XDG_DATA_HOME", &format!("{home}/.local/share")),
            folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share"),
        ]
        .concat()
        .into_iter()
        .flat_map(|folder| manifests_in(&folder.join("vulkan/icd.d")))
        .collect()
    }

    fn manifests_at(path: PathBuf) -> Vec<PathBuf> {
        if path.is_dir() { manifests_in(&path) } else { vec![path] }
    }

    fn manifests_in(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        files
    }

    fn driver(file: PathBuf) -> Driver {
        let library = || {
            let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
            // "library_path": "<library>"
            let value = text.split_once("\"library_path\"").and_then(|(_, rest)| rest.split('"').nth(1));
            let library = value.ok_or("it names no library".to_string())?;
            // With a slash it is a path, from the file's folder on; without, a name that the system looks up.
            Ok::<_, String>(match library.contains('/') {
                true => file.parent().unwrap_or(Path::new("/")).join(library),
                false => library.into(),
            })
        };
        let trouble = match library() {
            Ok(library) => trouble_with_library(&library),
            Err(reason) => Some(reason),
        };
        Driver { file, trouble }
    }

    /// Why a library cannot be loaded, if so.
    fn trouble_with_library(name: &Path) -> Option<String> {
        // SAFETY: loading runs the library's initialisers. They are the Vulkan loader and its drivers, which this process
        // loads anyway to look for adapters.
        let loaded = unsafe { libloading::Library::new(name) };
        loaded.err().map(|error| error.to_string())
    }

    fn forbidden_nodes() -> Vec<PathBuf> {
        let in_folder = |folder: &str, start: &str| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let is_meant =
                |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
            entries.map(|entry| entry.path()).filter(is_meant).collect::<Vec<_>>()
        };
        let mut nodes = in_folder("/dev/dri", "renderD");
        nodes.extend(in_folder("/dev", "nvidia"));
        let is_forbidden = |path: &PathBuf| {
            let opened = fs::OpenOptions::new().read(true).write(true).open(path);
            opened.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
        };
        nodes.retain(is_forbidden);
        nodes.sort();
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(file: &str, trouble: Option<&str>) -> Driver {
        Driver { file: file.into(), trouble: trouble.map(str::to_string) }
    }

    #[test]
    fn a_missing_loader_and_no_drivers_are_named() {
        let findings = Findings { broken_loader: Some("libvulkan.so.1: not found".to_string()), ..Default::default() };
        let text = findings.text(false);
        assert!(text.contains("libvulkan1") && text.contains("No Vulkan driver is registered"), "{text}");
    }

    #[test]
    fn a_container_without_nvidias_graphics_libraries_is_told_how_to_get_them() {
        let broken = driver("/etc/vulkan/icd.d/nvidia_icd.json", Some("libGLX_nvidia.so.0: not found"));
        let findings = Findings { drivers: vec![broken], has_nvidia: true, ..Default::default() };
        let text = findings.text(true);
        assert!(text.contains("NVIDIA_DRIVER_CAPABILITIES") && text.contains("libGLX_nvidia.so.0"), "{text}");
        let usable = driver("/etc/vulkan/icd.d/nvidia_icd.json", None);
        let findings = Findings { drivers: vec![usable], has_nvidia: true, ..Default::default() };
        assert_eq!(findings.text(true), "");
    }

    #[test]
    fn a_machine_in_order_without_a_device_is_called_that() {
        let findings = Findings { drivers: vec![driver("/x/lvp.json", None)], ..Default::default() };
        assert!(findings.text(false).contains("in order"));
        assert_eq!(findings.text(true), "");
    }
}
