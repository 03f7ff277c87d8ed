import ts from "typescript";

/** How a module was named. `unresolvable` is a dynamic form whose argument is not a literal, so that no rule can judge it. */
export type ImportForm =
  | "import"
  | "side-effect"
  | "export"
  | "dynamic"
  | "require"
  | "import-equals"
  | "import-type"
  | "reference"
  | "unresolvable";

/** One mention of another module in one source file. */
export interface ImportRef {
  form: ImportForm;
  /** As written; for `unresolvable` the argument's source text. */
  specifier: string;
  /** True when the compiler erases the whole mention. `import { type A }` is not erased under verbatimModuleSyntax. */
  typeOnly: boolean;
  /** Imported or re-exported names as the other module spells them; `*` is everything, `default` the default. */
  names: string[];
  /** Those of `names` that carry a `type` of their own or stand in an erased mention. */
  typeNames: string[];
  /** 1-based. */
  line: number;
}

/** Every way in which a source file can name another module, in source order. The parser decides, so comments and strings do not count. */
export function collectImports(path: string, text: string): ImportRef[] {
  const file = parse(path, text);
  const refs: ImportRef[] = [];
  const add = (node: ts.Node, found: Omit<ImportRef, "line">): void => {
    refs.push({ ...found, line: lineOf(file, node) });
  };

  for (const reference of [...file.referencedFiles, ...file.typeReferenceDirectives, ...file.libReferenceDirectives]) {
    const line = file.getLineAndCharacterOfPosition(reference.pos).line + 1;
    refs.push({
      form: "reference",
      specifier: reference.fileName,
      typeOnly: true,
      names: ["*"],
      typeNames: ["*"],
      line,
    });
  }

  visit(file, (node) => {
    if (ts.isImportDeclaration(node)) add(node, readImport(node));
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node, readExport(node, node.moduleSpecifier));
    else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      add(node, everything("import-equals", node.moduleReference.expression, node.isTypeOnly));
    } else if (ts.isImportTypeNode(node)) add(node, readImportType(node));
    else if (ts.isCallExpression(node)) {
      const form = calledLoader(node.expression);
      if (form) add(node, readLoad(form, node.arguments[0]));
    }
  });
  return refs;
}

export function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => {
    visit(child, see);
  });
}

export function lineOf(file: ts.SourceFile, node: ts.Node): number {
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}

function readImport(node: ts.ImportDeclaration): Omit<ImportRef, "line"> {
  const clause = node.importClause;
  const specifier = literal(node.moduleSpecifier);
  if (!clause) return { form: "side-effect", specifier, typeOnly: false, names: [], typeNames: [] };

  const typeOnly = clause.phaseModifier === ts.SyntaxKind.TypeKeyword;
  const bindings = clause.namedBindings;
  const listed =
    bindings && ts.isNamedImports(bindings) ? named(bindings.elements, typeOnly) : { names: [], typeNames: [] };
  const whole = [...(clause.name ? ["default"] : []), ...(bindings && ts.isNamespaceImport(bindings) ? ["*"] : [])];
  return {
    form: "import",
    specifier,
    typeOnly,
    names: [...whole, ...listed.names],
    typeNames: [...(typeOnly ? whole : []), ...listed.typeNames],
  };
}

function readExport(node: ts.ExportDeclaration, from: ts.Expression): Omit<ImportRef, "line"> {
  const clause = node.exportClause;
  if (!clause || !ts.isNamedExports(clause)) return everything("export", from, node.isTypeOnly);
  const listed = named(clause.elements, node.isTypeOnly);
  return { form: "export", specifier: literal(from), typeOnly: node.isTypeOnly, ...listed };
}

function readImportType(node: ts.ImportTypeNode): Omit<ImportRef, "line"> {
  const argument = ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument;
  const name = node.qualifier ? (node.qualifier.getText().split(".")[0] ?? "*") : "*";
  return { form: "import-type", specifier: literal(argument), typeOnly: true, names: [name], typeNames: [name] };
}

function readLoad(form: "dynamic" | "require", argument: ts.Expression | undefined): Omit<ImportRef, "line"> {
  if (argument && ts.isStringLiteralLike(argument)) return everything(form, argument, false);
  const specifier = argument?.getText() ?? "";
  return { form: "unresolvable", specifier, typeOnly: false, names: ["*"], typeNames: [] };
}

/** `import()`, `import.defer()`, `require()`, `x.require()`, `require.resolve()` and Node's `process.getBuiltinModule()`. */
function calledLoader(callee: ts.Expression): "dynamic" | "require" | undefined {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return "dynamic";
  if (ts.isMetaProperty(callee) && callee.keywordToken === ts.SyntaxKind.ImportKeyword) return "dynamic";
  if (ts.isIdentifier(callee) && (callee.text === "require" || callee.text === "getBuiltinModule")) return "require";
  if (ts.isElementAccessExpression(callee)) {
    return ts.isStringLiteralLike(callee.argumentExpression) && isLoaderName(callee.argumentExpression.text)
      ? "require"
      : undefined;
  }
  if (!ts.isPropertyAccessExpression(callee)) return undefined;
  if (isLoaderName(callee.name.text)) return "require";
  return callee.name.text === "resolve" && callee.expression.getText() === "require" ? "require" : undefined;
}

function isLoaderName(name: string): boolean {
  return name === "require" || name === "getBuiltinModule";
}

function everything(form: ImportForm, from: ts.Expression, typeOnly: boolean): Omit<ImportRef, "line"> {
  return { form, specifier: literal(from), typeOnly, names: ["*"], typeNames: typeOnly ? ["*"] : [] };
}

function named(
  elements: Iterable<ts.ImportSpecifier | ts.ExportSpecifier>,
  typeOnly: boolean,
): { names: string[]; typeNames: string[] } {
  const all = [...elements].map((element) => ({
    name: (element.propertyName ?? element.name).text,
    type: typeOnly || element.isTypeOnly,
  }));
  return { names: all.map(({ name }) => name), typeNames: all.filter(({ type }) => type).map(({ name }) => name) };
}

function literal(node: ts.Node): string {
  return ts.isStringLiteralLike(node) ? node.text : node.getText();
}
