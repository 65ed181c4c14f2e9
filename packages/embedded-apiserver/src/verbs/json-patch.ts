import { isDeepStrictEqual } from 'node:util';

/** One operation of a JSON patch (RFC 6902). */
export type Operation = {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
};

type Container = Record<string, unknown> | unknown[];

/**
 * Applies a JSON patch to a copy of `target`.
 *
 * @throws {Error} if a path doesn't exist or a test fails; then nothing is applied
 */
export function jsonPatch(target: unknown, operations: readonly Operation[]): unknown {
  // Wrapped, so that the path "" (the whole document) has a container, too.
  const root = { document: structuredClone(target) };
  for (const operation of operations) apply(root, operation);
  return root.document;
}

function apply(root: Container, { op, path, from = '', value }: Operation): void {
  switch (op) {
    case 'add':
      return add(root, path, structuredClone(value));
    case 'remove':
      return void remove(root, path);
    case 'replace':
      return replace(root, path, structuredClone(value));
    case 'move':
      return add(root, path, remove(root, from));
    case 'copy':
      return add(root, path, structuredClone(read(root, from)));
    case 'test':
      if (!isDeepStrictEqual(read(root, path), value)) throw new Error(`testing value ${path} failed: test failed`);
      return;
    default:
      throw new Error(`Unexpected kind: ${String(op)}`);
  }
}

function add(root: Container, path: string, value: unknown): void {
  const { container, key } = locate(root, path);
  if (!Array.isArray(container)) container[key] = value;
  else if (key === '-') container.push(value);
  else container.splice(index(container, key, container.length), 0, value);
}

/** Replacing a missing field adds it. RFC 6902 forbids that; the library that kube-apiserver uses allows it. */
function replace(root: Container, path: string, value: unknown): void {
  const { container, key } = locate(root, path);
  if (Array.isArray(container)) container[index(container, key, container.length - 1)] = value;
  else container[key] = value;
}

function remove(root: Container, path: string): unknown {
  const { container, key } = locate(root, path);
  if (Array.isArray(container)) return container.splice(index(container, key, container.length - 1), 1)[0];
  if (!Object.hasOwn(container, key)) throw missing(path);
  const value = container[key];
  delete container[key];
  return value;
}

function read(root: Container, path: string): unknown {
  const { container, key } = locate(root, path);
  if (Array.isArray(container)) return container[index(container, key, container.length - 1)];
  if (!Object.hasOwn(container, key)) throw missing(path);
  return container[key];
}

/** The object or array that contains the target of `path`, and the target's key in it. */
function locate(root: Container, path: string): { container: Container; key: string } {
  if (path !== '' && !path.startsWith('/')) throw missing(path);
  const keys = [
    'document',
    ...path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')),
  ];
  let container = root;
  for (const key of keys.slice(0, -1)) {
    const next: unknown = Array.isArray(container)
      ? container[index(container, key, container.length - 1)]
      : container[key];
    if (typeof next !== 'object' || next === null) throw missing(path);
    container = next as Container;
  }
  return { container, key: keys.at(-1)! };
}

function index(container: readonly unknown[], key: string, largest: number): number {
  const position = Number(key);
  if (!/^\d+$/.test(key) || position > largest) throw new Error(`Unable to access invalid index: ${key}`);
  return position;
}

const missing = (path: string) => new Error(`the path ${path} doesn't exist`);
