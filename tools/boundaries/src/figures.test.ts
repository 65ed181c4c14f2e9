import { expect, it } from 'vitest';
import { checkFigures, figuresOf, type ProjectSources } from './figures.ts';

const project = (name: string, tag: string, files: Readonly<Record<string, string>>): ProjectSources => ({
  project: {
    folder: name,
    name: `@kube-semaphore/${name}`,
    tags: [tag],
    dependencies: [],
    devDependencies: [],
    reads: [],
  },
  files: Object.entries(files).map(([path, text]) => ({ path, text })),
});

it('counts in the sources of programs, and not in tests', () => {
  const policy = project('policy', 'type:app', {
    'src/a.ts':
      'type A = { readonly onChange: () => void; onEnd?: (a: A) => void; only: () => void };\nnew Reflector();\n',
    'src/a.test.ts': 'const onTest: () => void;\nnew Reflector();\n',
    'test/b.ts': 'new Reflector();\n',
  });
  const imports = ['policy/verdict', 'policy/names', 'net'].map((entry) => `import '@kube-semaphore/${entry}';\n`);
  const cli = project('cli', 'type:cli', { 'src/a.ts': `${imports.join('')}type B = { onKey: () => void };\n` });
  const net = project('net', 'type:pure', { 'src/a.ts': '\n\n' });
  const testkit = project('testkit', 'type:test', { 'src/a.ts': '\n' });
  expect(figuresOf([policy, cli, net, testkit])).toEqual({
    callbacks: 2,
    reflectors: 1,
    controllerLines: 2,
    packageLines: 2,
    appImports: 1,
  });
});

it('accepts no figure above its limit, and no limit above its figure', () => {
  const limits = { callbacks: 2, reflectors: 1, appImports: 0 };
  expect(checkFigures(limits, limits)).toEqual([]);
  expect(checkFigures({ ...limits, callbacks: 3 }, limits)).toEqual([
    'callbacks: 3: make it no more than 2, in tools/boundaries/src/figures.ts',
  ]);
  expect(checkFigures({ ...limits, reflectors: 0 }, limits)).toEqual([
    'reflectors: 0: now lower its limit, which is 1, in tools/boundaries/src/figures.ts',
  ]);
});
