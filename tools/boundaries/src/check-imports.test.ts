import { describe, expect, it } from 'vitest';
import { checkImports, importsOf } from './check-imports.ts';
import type { Project } from './project.ts';

const named = (name: string, tag: string, dependencies: readonly string[] = []): Project => ({
  folder: name,
  name: `@kube-semaphore/${name}`,
  tags: [tag],
  dependencies: dependencies.map((dependency) => `@kube-semaphore/${dependency}`),
  devDependencies: ['@kube-semaphore/testkit'],
  reads: [],
});

const net = named('net', 'type:pure');
const client = named('client', 'type:lib', ['net']);
const policy = named('policy', 'type:app', ['client']);
const reference = named('reference', 'type:tool', ['policy', 'testkit']);
const proxy = named('proxy', 'type:test', ['testkit']);
const e2e = named('e2e', 'type:e2e', ['testkit']);
const projects = [net, client, policy, reference, e2e, named('testkit', 'type:test'), proxy];

const check = (project: Project, path: string, specifier: string) =>
  checkImports(project, { files: [{ path, text: `import { a } from '${specifier}';` }], projects });

const ENTRIES = 'of an app only ./cleanup, ./options, ./metrics, ./names may be imported';

describe('importsOf', () => {
  it.each([
    { name: 'an import', text: "import { a, type B } from './a.ts';" },
    { name: 'an import over several lines', text: "import {\n  a,\n} from './a.ts';" },
    { name: 'an import of types', text: "import type { A } from './a.ts';" },
    { name: 'an import for its effects', text: "import './a.ts';" },
    { name: 'an export', text: "export { a } from './a.ts';" },
    { name: 'an export of everything', text: "export * from './a.ts';" },
    { name: 'a lazy import', text: "const { a } = await import('./a.ts');" },
    { name: 'a type in place', text: "type A = import('./a.ts').A;" },
    { name: 'double quotes', text: 'import { a } from "./a.ts";' },
  ])('finds $name', ({ text }) => {
    expect(importsOf(text)).toEqual(['./a.ts']);
  });

  it('ignores other code', () => {
    expect(importsOf("is ? 'from' : 'to'")).toEqual([]);
    expect(importsOf("const from = ['a'];\nimportant('b');\nexport const c = 'd';")).toEqual([]);
  });
});

describe('checkImports', () => {
  it.each([
    { name: 'a declared project', project: client, path: 'src/a.ts', specifier: '@kube-semaphore/net' },
    { name: 'a file beside', project: client, path: 'src/a.ts', specifier: './b.ts' },
    { name: 'the sources, from a process test', project: policy, path: 'test/a.test.ts', specifier: '../src/a.ts' },
    { name: 'a package from elsewhere', project: client, path: 'src/a.ts', specifier: 'pino' },
    { name: 'the testkit, from a test', project: client, path: 'src/a.test.ts', specifier: '@kube-semaphore/testkit' },
    { name: 'the testkit, in test/', project: client, path: 'test/b.ts', specifier: '@kube-semaphore/testkit' },
    { name: 'the testkit, from a tool', project: reference, path: 'src/a.ts', specifier: '@kube-semaphore/testkit' },
    {
      name: 'the testkit, from another package for tests',
      project: proxy,
      path: 'src/a.ts',
      specifier: '@kube-semaphore/testkit',
    },
    { name: 'the testkit, from e2e', project: e2e, path: 'src/a.ts', specifier: '@kube-semaphore/testkit' },
    { name: 'hashing, in a pure package', project: net, path: 'src/a.ts', specifier: 'node:crypto' },
    { name: 'Node.js, in a library', project: client, path: 'src/a.ts', specifier: 'node:fs' },
    { name: 'Node.js, in a test', project: net, path: 'src/a.test.ts', specifier: 'node:net' },
    { name: 'data of an app', project: reference, path: 'src/a.ts', specifier: '@kube-semaphore/policy/options' },
  ])('allows $name', ({ project, path, specifier }) => {
    expect(check(project, path, specifier)).toEqual([]);
  });

  it.each([
    {
      name: 'a project that is not declared',
      project: net,
      specifier: '@kube-semaphore/client',
      want: '@kube-semaphore/client is not declared in net/package.json',
    },
    {
      name: 'a path into another project',
      project: client,
      specifier: '../../net/src/cidr.ts',
      want: '../../net/src/cidr.ts leaves the project: import another one by its name',
    },
    {
      name: 'the testkit in production',
      project: client,
      specifier: '@kube-semaphore/testkit',
      want: '@kube-semaphore/testkit is for tests only',
    },
    {
      name: 'an app as a whole',
      project: reference,
      specifier: '@kube-semaphore/policy',
      want: `@kube-semaphore/policy: ${ENTRIES}`,
    },
    {
      name: 'the inside of an app',
      project: reference,
      specifier: '@kube-semaphore/policy/src/main.ts',
      want: `@kube-semaphore/policy/src/main.ts: ${ENTRIES}`,
    },
    {
      name: 'Node.js in a pure package',
      project: net,
      specifier: 'node:fs',
      want: 'a pure package may not import node:fs',
    },
  ])('reports $name', ({ project, specifier, want }) => {
    expect(check(project, 'src/a.ts', specifier)).toEqual([`${project.folder}/src/a.ts: ${want}`]);
  });

  describe('in src/desired', () => {
    const app = named('policy', 'type:app', ['client', 'net']);
    const faultsOf = (what: string, specifier: string, path = 'src/desired/a.ts') =>
      checkImports(app, { files: [{ path, text: `import ${what} from '${specifier}';` }], projects });

    it.each([
      { name: 'another decision', what: '{ b }', specifier: './global/b.ts' },
      { name: "the app's names", what: '{ b }', specifier: '../names.ts' },
      { name: 'a pure package', what: '{ b }', specifier: '@kube-semaphore/net' },
      { name: 'types of a library', what: 'type { B }', specifier: '@kube-semaphore/client' },
      { name: 'a comparison', what: '{ isDeepStrictEqual }', specifier: 'node:util' },
    ])('allows $name', ({ what, specifier }) => {
      expect(faultsOf(what, specifier)).toEqual([]);
    });

    it.each([
      {
        name: 'another room',
        what: '{ b }',
        specifier: '../local/b.ts',
        want: '../local/b.ts is no decision, and this file only decides',
      },
      {
        name: 'a type of another room',
        what: 'type { B }',
        specifier: '../local/b.ts',
        want: '../local/b.ts is no decision, and this file only decides',
      },
      {
        name: 'a library',
        what: '{ b, type C }',
        specifier: '@kube-semaphore/client',
        want: 'a decision may import @kube-semaphore/client for its types only',
      },
      {
        name: 'Node.js',
        what: '{ readFile }',
        specifier: 'node:fs/promises',
        want: 'a decision may import node:fs/promises for its types only',
      },
    ])('reports $name', ({ what, specifier, want }) => {
      expect(faultsOf(what, specifier)).toEqual([`policy/src/desired/a.ts: ${want}`]);
    });

    it('applies to the names, too', () => {
      expect(faultsOf('{ b }', './local/b.ts', 'src/names.ts')).toHaveLength(1);
    });

    it('ignores tests', () => {
      expect(faultsOf('{ b }', '../local/b.ts', 'src/desired/a.test.ts')).toEqual([]);
    });
  });

  it('reports a development dependency outside of tests as undeclared', () => {
    const project = { ...net, devDependencies: ['@kube-semaphore/client'] };
    expect(check(project, 'src/a.test.ts', '@kube-semaphore/client')).toEqual([]);
    expect(check(project, 'src/a.ts', '@kube-semaphore/client')).toHaveLength(1);
  });
});
