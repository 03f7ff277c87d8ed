import ts from "typescript";
import { lineOf, parse } from "./imports.js";

/** Calls whose name says all there is to say. */
const PLAIN = ["[Symbol.asyncDispose]"];

/** What lacks a docstring of an exported declaration and the calls that it offers, as `path:line name`. */
export function findUndocumented(path: string, text: string, name: string): string[] {
  const file = parse(path, text);
  const found = file.statements.find((statement) => namesOf(statement).includes(name));
  if (found === undefined) return [`${path}:1 ${name} is not declared here`];
  return [found, ...callsOf(found)].flatMap((node) =>
    ts.getJSDocCommentsAndTags(node).length > 0
      ? []
      : [`${path}:${lineOf(file, node)} ${node === found ? name : `${name}.${nameOf(node)}`}`],
  );
}

function callsOf(found: ts.Statement): ts.Node[] {
  if (!ts.isClassDeclaration(found) && !ts.isInterfaceDeclaration(found)) return [];
  return [...found.members].filter((member) => {
    const isCall = ts.isMethodDeclaration(member) || ts.isMethodSignature(member);
    return isCall && !nameOf(member).startsWith("#") && !PLAIN.includes(nameOf(member));
  });
}

function namesOf(statement: ts.Statement): string[] {
  if (!ts.isVariableStatement(statement)) return [nameOf(statement)];
  return statement.declarationList.declarations.map(nameOf);
}

function nameOf(node: ts.Node): string {
  return (node as ts.Node & { name?: ts.Node }).name?.getText() ?? "";
}
