import { expect, it } from 'vitest';
import type { Project } from './project.ts';
import { isTestInput } from './test-inputs.ts';

const named = (folder: string, dependencies: readonly string[] = []): Project => ({
  folder,
  name: `@kube-semaphore/${folder.replace(/.*\//, '')}`,
  tags: [],
  dependencies: dependencies.map((name) => `@kube-semaphore/${name}`),
  devDependencies: [],
  reads: [],
});

const net = named('packages/net');
const testkit = named('packages/testkit', ['net']);
const wireguard = named('apps/wireguard', ['net']);
const policy = {
  ...named('apps/policy'),
  devDependencies: [testkit.name],
  reads: ['{workspaceRoot}/docs/policy.md', '{workspaceRoot}/deploy/policy/**/*'],
};
const workspace = { projects: [net, testkit, wireguard, policy], runner: ['{workspaceRoot}/vitest.config.ts'] };

it.each([
  { name: "takes the project's own file", path: 'apps/policy/test/support/it.ts', expected: true },
  { name: "takes the project's own folder", path: 'apps/policy', expected: true },
  { name: 'takes a source of a dependency', path: 'packages/testkit/src/index.ts', expected: true },
  { name: 'takes a source of a dependency of a dependency', path: 'packages/net/src/cidr.ts', expected: true },
  { name: 'refuses a test of a dependency', path: 'packages/net/src/cidr.test.ts', expected: false },
  { name: 'refuses what tests of a dependency need', path: 'packages/testkit/test/remains.ts', expected: false },
  { name: 'refuses another project', path: 'apps/wireguard/src/main.ts', expected: false },
  { name: 'takes a page that the project names', path: 'docs/policy.md', expected: true },
  { name: 'refuses another page', path: 'docs/wireguard.md', expected: false },
  { name: 'takes a folder of which the project names every file', path: 'deploy/policy/base', expected: true },
  { name: 'refuses a folder of which it names some files', path: 'docs', expected: false },
  { name: 'takes what every test needs', path: 'vitest.config.ts', expected: true },
  { name: 'refuses the workspace as a whole', path: '', expected: false },
])('$name', ({ path, expected }) => {
  expect(isTestInput(path, 'apps/policy', workspace)).toBe(expected);
});
