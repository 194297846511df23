//! Which files of a crate import each other: at most two in a circle.
//!
//! Two files may need each other, and a module may use what its parent declares; a circle of three is
//! one file in three pieces, which nobody can read or test alone. Re-exports are followed to the file
//! that has the item, so a crate's root is no meeting place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::finding::Finding;
use super::source::Source;

/// The most files that may import each other.
const CIRCLE_MAX: usize = 2;

/// How many re-exports are followed for one name.
const HOPS_MAX: usize = 8;

/// Crates in which more may, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// The path of a module below the crate's root: names from the root on.
type Module = Vec<String>;

/// The files of one crate by module.
struct Crate<'a> {
    files: BTreeMap<Module, &'a Path>,
    /// The paths that each module names, relative to the root.
    named: BTreeMap<Module, Vec<Module>>,
    /// For each module, the names that it re-exports and where they come from.
    handed_on: BTreeMap<Module, BTreeMap<String, Module>>,
}

/// What the rule finds in the files of the whole workspace.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut crates: BTreeMap<PathBuf, Vec<&Source>> = BTreeMap::new();
    for source in sources {
        if let Some((root, _)) = place(&source.path) {
            crates.entry(root).or_default().push(source);
        }
    }
    crates.values().flat_map(|sources| of_crate(sources, EXCEPTIONS)).collect()
}

/// What the rule finds in the files of one crate. An exception without need is a finding too, so that
/// their list shrinks.
fn of_crate(sources: &[&Source], exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let found = circles(&Crate::new(sources));
    let excepted = |source: &&&Source| {
        source.room().is_some_and(|room| exceptions.iter().any(|(name, _)| *name == room))
    };
    match sources.first().filter(excepted) {
        None => found,
        Some(_) if !found.is_empty() => Vec::new(),
        Some(source) => {
            let message = "no circle is left in this crate: remove it from EXCEPTIONS in \
                           xtask/src/tidy/cycles.rs";
            vec![Finding::new(&source.path, 0, message)]
        }
    }
}

/// The `src` folder that `path` is in, and its module there; `None` for tests and the like.
fn place(path: &Path) -> Option<(PathBuf, Module)> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let src = parts.iter().position(|part| *part == "src")?;
    let mut module: Module = parts[src + 1..].iter().map(|part| (*part).to_owned()).collect();
    let stem = module.pop()?.strip_suffix(".rs")?.to_owned();
    let is_root = module.is_empty() && (stem == "lib" || stem == "main");
    if !is_root && stem != "mod" {
        module.push(stem);
    }
    Some((parts[..=src].iter().collect(), module))
}

impl<'a> Crate<'a> {
    fn new(sources: &[&'a Source]) -> Self {
        let mut files = BTreeMap::new();
        for source in sources {
            if let Some((_, module)) = place(&source.path) {
                files.insert(module, &*source.path);
            }
        }
        let mut all = Self { files, named: BTreeMap::new(), handed_on: BTreeMap::new() };
        for source in sources {
            let Some((_, module)) = place(&source.path) else { continue };
            let lines: Vec<&str> = source.product_lines().map(|(_, line)| line).collect();
            let code = lines.join("\n");
            let named = all.paths_in(&module, &code);
            let handed_on = all.re_exports(&module, &code);
            all.named.insert(module.clone(), named);
            all.handed_on.insert(module, handed_on);
        }
        all
    }

    /// Every path in `code` of `module` that leads into this crate.
    fn paths_in(&self, module: &Module, code: &str) -> Vec<Module> {
        let mut paths = Vec::new();
        let mut before = ' ';
        let mut rest = code;
        while let Some(letter) = rest.chars().next() {
            let begins = is_letter(letter) && !is_letter(before) && before != ':';
            if begins && let Some(start) = self.start(module, word(rest)) {
                let mut found = Vec::new();
                let tail = rest[word(rest).len()..].strip_prefix("::");
                if let Some(tail) = tail {
                    tree(tail, &mut Vec::new(), &mut found);
                    paths.extend(found.iter().filter_map(|path| joined(&start, path)));
                }
            }
            before = letter;
            rest = &rest[letter.len_utf8()..];
        }
        paths
    }

    /// The names that `module` re-exports from within the crate, and their paths.
    fn re_exports(&self, module: &Module, code: &str) -> BTreeMap<String, Module> {
        let mut names = BTreeMap::new();
        for statement in code.split("pub").skip(1) {
            let statement = statement.trim_start();
            let statement = match statement.strip_prefix('(') {
                Some(rest) => rest.split_once(')').map_or("", |(_, rest)| rest).trim_start(),
                None => statement,
            };
            let Some(path) = statement.strip_prefix("use ") else { continue };
            let path = path.split(';').next().unwrap_or_default();
            for path in self.paths_in(module, path) {
                if let Some(name) = path.last() {
                    names.insert(name.clone(), path.clone());
                }
            }
        }
        names
    }

    /// Where a path of `module` that begins with `word` starts; `None` where it leads out of the crate.
    fn start(&self, module: &Module, word: &str) -> Option<Module> {
        match word {
            "crate" => Some(Vec::new()),
            "self" => Some(module.clone()),
            "super" => Some(module[..module.len().checked_sub(1)?].to_vec()),
            child => {
                let child = [module.as_slice(), &[child.to_owned()]].concat();
                self.files.contains_key(&child).then_some(child)
            }
        }
    }

    /// The module whose file has what `path` names.
    fn home(&self, path: &[String], hops: usize) -> Module {
        let mut module = Module::new();
        for (index, name) in path.iter().enumerate() {
            module.push(name.clone());
            if self.files.contains_key(&module) {
                continue;
            }
            module.pop();
            let further = self.handed_on.get(&module).and_then(|names| names.get(name));
            return match further {
                Some(further) if hops > 0 && further != path => {
                    let whole = [further.as_slice(), &path[index + 1..]].concat();
                    self.home(&whole, hops - 1)
                }
                _ => module,
            };
        }
        module
    }

    /// Whom each module imports, its ancestors aside.
    fn arrows(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let of = |module: &Module, paths: &[Module]| {
            let homes = paths.iter().map(|path| self.home(path, HOPS_MAX));
            homes.filter(|home| !module.starts_with(home)).collect()
        };
        self.named.iter().map(|(module, paths)| (module, of(module, paths))).collect()
    }
}

/// A finding for each circle of `all`.
fn circles(all: &Crate<'_>) -> Vec<Finding> {
    let arrows = all.arrows();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        arrows.keys().map(|module| (*module, reached_from(module, &arrows))).collect();
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for module in arrows.keys() {
        let is_mutual =
            |other: &&Module| reached[module].contains(*other) && reached[*other].contains(*module);
        let circle: Vec<&Module> = arrows.keys().copied().filter(is_mutual).collect();
        if circle.len() > CIRCLE_MAX && seen.insert(circle.clone()) {
            let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            let message = format!(
                "{} files import each other: {}; at most {CIRCLE_MAX} may",
                names.len(),
                names.join(", ")
            );
            findings.push(Finding::new(all.files[circle[0]], 0, message));
        }
    }
    findings
}

/// All modules that `from` imports, over others too.
fn reached_from<'a>(
    from: &Module,
    arrows: &'a BTreeMap<&'a Module, BTreeSet<Module>>,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut to_visit: Vec<&Module> = arrows.get(from).into_iter().flatten().collect();
    while let Some(module) = to_visit.pop() {
        if reached.insert(module) {
            to_visit.extend(arrows.get(module).into_iter().flatten());
        }
    }
    reached
}

/// `start` and then `path`, in which `super` leads up and `self` nowhere.
fn joined(start: &Module, path: &[String]) -> Option<Module> {
    let mut whole = start.clone();
    for name in path {
        match &**name {
            "super" => drop(whole.pop()?),
            "self" => {}
            name => whole.push(name.to_owned()),
        }
    }
    Some(whole)
}

/// Adds the paths of the use tree at the start of `text` to `found`, each behind `before`.
/// Returns what stands behind the tree.
fn tree<'t>(text: &'t str, before: &mut Module, found: &mut Vec<Module>) -> &'t str {
    let text = text.trim_start();
    if let Some(mut group) = text.strip_prefix('{') {
        loop {
            // Behind the last comma stands no path.
            if let Some(rest) = group.trim_start().strip_prefix('}') {
                return rest;
            }
            group = tree(group, &mut before.clone(), found).trim_start();
            group = match group.strip_prefix(',') {
                Some(rest) => rest,
                None => return group.strip_prefix('}').unwrap_or(group),
            };
        }
    }
    let name = word(text);
    if name.is_empty() {
        found.push(before.clone());
        return text.strip_prefix('*').unwrap_or(text);
    }
    before.push(name.to_owned());
    let rest = &text[name.len()..];
    match rest.strip_prefix("::") {
        // Behind `::<` stand types.
        Some(rest) if !rest.starts_with('<') => tree(rest, before, found),
        _ => {
            found.push(before.clone());
            let renamed = rest.trim_start().strip_prefix("as ");
            renamed.map_or(rest, |other| &other[word(other).len()..])
        }
    }
}

/// The name at the start of `text`.
fn word(text: &str) -> &str {
    let end = text.find(|letter| !is_letter(letter)).unwrap_or(text.len());
    &text[..end]
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles in a crate of these files, in words.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(name, text)| Source::new(Path::new(&format!("crates/a/src/{name}.rs")), text))
            .collect();
        check(&sources).iter().map(|finding| finding.message.clone()).collect()
    }

    #[test]
    fn three_files_in_a_circle_are_found_and_two_are_not() {
        let three = [
            ("a", "use crate::b::X;"),
            ("b", "fn f() { crate::c::g() }"),
            ("c", "use super::a::Y;"),
        ];
        assert_eq!(found(&three), ["3 files import each other: a, b, c; at most 2 may"]);
        let two = [("a", "use crate::b::X;"), ("b", "use crate::{a::Y, c};"), ("c", "")];
        assert!(found(&two).is_empty());
    }

    #[test]
    fn a_module_may_use_its_parent_but_not_lead_back_to_it_over_others() {
        let family = [
            ("a", "mod b;\nmod c;\nuse b::X;\nuse c::Y;"),
            ("a/b", "use super::Z;"),
            ("a/c", "use super::Z;"),
        ];
        assert!(found(&family).is_empty());
        let detour =
            [("a", "mod b;\nuse b::X;"), ("a/b", "use crate::c::Y;"), ("c", "use crate::a::Z;")];
        assert_eq!(found(&detour), ["3 files import each other: a, a::b, c; at most 2 may"]);
    }

    #[test]
    fn names_from_the_root_are_followed_to_their_files() {
        let root = (
            "lib",
            "mod a;\nmod b;\nmod c;\npub use a::{X, self as other};\npub(crate) use b::Y;\npub use c::Z;",
        );
        let three =
            [root, ("a", "use crate::Y;"), ("b", "use crate::{Z};"), ("c", "use crate::X;")];
        assert_eq!(found(&three), ["3 files import each other: a, b, c; at most 2 may"]);
        let none = [root, ("a", "use crate::Y;"), ("b", "use crate::Z;"), ("c", "")];
        assert!(found(&none).is_empty());
    }

    #[test]
    fn a_comma_behind_the_last_name_names_nothing() {
        let files = [
            ("a", "mod x;\npub use x::{X, Y};\nuse crate::c::Z;"),
            ("a/x", ""),
            ("b", "use crate::a::{\n    X, Y,\n};"),
            ("c", "use crate::b::W;"),
        ];
        assert!(found(&files).is_empty());
    }

    #[test]
    fn an_exception_that_is_not_needed_is_found() {
        let source = Source::new(Path::new("crates/a/src/lib.rs"), "mod b;");
        assert_eq!(of_crate(&[&source], &[("a", "its reason")]).len(), 1);
        assert!(of_crate(&[&source], &[("b", "its reason")]).is_empty());
    }

    #[test]
    fn what_unit_tests_import_is_free() {
        let files = [
            ("a", "use crate::b::X;"),
            ("b", "use crate::c::X;"),
            ("c", "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::a::Y;\n}"),
        ];
        assert!(found(&files).is_empty());
    }
}
