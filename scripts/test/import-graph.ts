import { dirname, posix } from "node:path";

/** Which file of the repository leads to which; paths from its root, with slashes. */
export type ImportGraph = {
  files: ReadonlySet<string>;
  /** What runs with a file: what it imports, and what that imports, itself among them. */
  importsOf(file: string): ReadonlySet<string>;
  /** Packages and `node:` modules that run with a file. */
  packagesOf(file: string): ReadonlySet<string>;
  /** All files that one of these can change: by imports, and by names of files in quoted texts. */
  changedBy(files: Iterable<string>): ReadonlySet<string>;
};

type References = { imports: ReadonlySet<string>; packages: ReadonlySet<string>; names: ReadonlySet<string> };

/** `import type` runs nothing; the compiler looks after it. */
const importPattern =
  /(?:^|[;}\s])(?:import|export)\b(?!\s+type\b)(?:[\s\w$*{},]*?\bfrom)?\s*\(?\s*["']([^"'\n]+)["']/g;
/** Comments name files that nothing reads. */
const commentPattern = /^\s*(?:\/\/|\/?\*).*$/gm;
/** A quoted text up to the first character that no path has, `${` for one. */
const quotedPathPattern = /["'`]([\w@.][\w@./-]*)(\$?)/g;

/**
 * Reads the import graph of a repository. A file that starts another program or reads another file names it in a quoted
 * text (`new URL("../../config/gateway.yaml", …)`, `join(root, "gateway/main.ts")`): each quoted path that leads to a
 * file or a folder, from the file's own folder or from the root, counts as a name. Too many are harmless.
 */
export function createImportGraph({
  files,
  read,
}: {
  files: Iterable<string>;
  read: (file: string) => string;
}): ImportGraph {
  const all = new Set(files);
  const folders = filesByFolder(all);
  const references = new Map<string, References>();
  const referencesOf = (file: string): References => {
    const known = references.get(file);
    if (known !== undefined) return known;
    const found = isScript(file) ? findReferences({ file, text: read(file), all, folders }) : none;
    references.set(file, found);
    return found;
  };
  const importsOf = (file: string) => reach([file], (each) => referencesOf(each).imports);
  const sourcesByTarget = () => {
    const reverse = new Map<string, Set<string>>();
    for (const file of all) {
      const { imports, names } = referencesOf(file);
      for (const target of [...imports, ...names]) {
        const sources = reverse.get(target) ?? new Set();
        reverse.set(target, sources.add(file));
      }
    }
    return reverse;
  };
  let reverse: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return {
    files: all,
    importsOf,
    packagesOf: (file) =>
      new Set([...importsOf(file)].flatMap((imported) => [...referencesOf(imported).packages])),
    changedBy(changed) {
      reverse ??= sourcesByTarget();
      const sources = reverse;
      return reach(changed, (file) => sources.get(file) ?? []);
    },
  };
}

const none: References = { imports: new Set(), packages: new Set(), names: new Set() };

/** A file of which the graph knows all that it imports. */
export function isScript(file: string): boolean {
  return /\.[cm]?[jt]s$/.test(file);
}

function findReferences({
  file,
  text,
  all,
  folders,
}: {
  file: string;
  text: string;
  all: ReadonlySet<string>;
  folders: ReadonlyMap<string, readonly string[]>;
}): References {
  const imports = new Set<string>();
  const packages = new Set<string>();
  const names = new Set<string>();
  for (const [, specifier = ""] of text.matchAll(importPattern)) {
    const path = posix.join(dirname(file), specifier);
    if (!specifier.startsWith(".")) packages.add(specifier);
    else if (all.has(path)) imports.add(path);
  }
  for (const [, quoted = "", cut] of text.replaceAll(commentPattern, "").matchAll(quotedPathPattern)) {
    // Of `../vectors/${name}` the folder is known.
    const path = cut === "" ? quoted : quoted.slice(0, quoted.lastIndexOf("/") + 1);
    for (const candidate of [posix.join(dirname(file), path), posix.normalize(path)]) {
      if (all.has(candidate)) names.add(candidate);
      else if (path.includes("/") && !holds(candidate, file)) {
        for (const inside of folders.get(withoutSlash(candidate)) ?? []) names.add(inside);
      }
    }
  }
  names.delete(file);
  return { imports, packages, names };
}

/** A folder that holds the file itself is where a path begins, not what is read. */
function holds(folder: string, file: string): boolean {
  const name = withoutSlash(folder);
  return name === "." || file.startsWith(`${name}/`);
}

function withoutSlash(folder: string): string {
  return folder.replace(/\/+$/, "");
}

/** All files below each folder. */
function filesByFolder(files: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  for (const file of files) {
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
      const inside = folders.get(folder) ?? [];
      inside.push(file);
      folders.set(folder, inside);
    }
  }
  return folders;
}

/** The given ones and all to which `next` leads from them. */
function reach(starts: Iterable<string>, next: (file: string) => Iterable<string>): ReadonlySet<string> {
  const reached = new Set(starts);
  for (const file of reached) for (const each of next(file)) reached.add(each);
  return reached;
}
