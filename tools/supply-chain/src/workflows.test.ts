import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

type Step = { readonly uses?: string; readonly run?: string; readonly with?: Readonly<Record<string, unknown>> };
type Job = {
  readonly uses?: string;
  readonly needs?: string;
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
};
type Workflow = {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
};

const workflows = globSync('.github/workflows/*', { cwd: root }).map((path) => ({
  path,
  text: read(path),
  workflow: parse(read(path)) as Workflow,
}));
const stepsOf = ({ jobs }: Workflow): readonly Step[] => Object.values(jobs).flatMap(({ steps = [] }) => steps);

it('there are two', () => {
  expect(workflows.map(({ path }) => path).toSorted()).toEqual([
    '.github/workflows/ci.yaml',
    '.github/workflows/release.yaml',
  ]);
});

describe.each(workflows)('$path', ({ text, workflow }) => {
  it('pins actions by commit, and names their version', () => {
    const actions = text.match(/(?<=uses: )(?!\.\/).*/g) ?? [];
    expect(actions.length).toBeGreaterThan(3);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('has write permissions only where a job declares them', () => {
    expect(Object.values(workflow.permissions ?? { all: 'write' }).filter((right) => right !== 'read')).toEqual([]);
  });

  it('leaves no token behind in a checkout', () => {
    const checkouts = stepsOf(workflow).filter(({ uses = '' }) => uses.startsWith('actions/checkout@'));
    expect(checkouts.map(({ with: inputs }) => inputs?.['persist-credentials'])).toEqual(checkouts.map(() => false));
  });

  it('has no script that contains foreign text', () => {
    expect(stepsOf(workflow).filter(({ run }) => run?.includes('${{'))).toEqual([]);
  });

  it('uses the Node.js and Go versions of the images', () => {
    const versions = (name: string) => stepsOf(workflow).flatMap(({ with: inputs = {} }) => inputs[name] ?? []);
    const image = (name: string) =>
      new RegExp(`^ARG ${name}=\\w+:([\\d.]+)-`, 'm').exec(read('apps/wireguard/Dockerfile'))?.[1];
    expect(new Set([...versions('node-version'), image('NODE')]).size).toBe(1);
    expect(new Set([...versions('go-version'), image('GO')]).size).toBe(1);
  });
});

describe('a release', () => {
  const { jobs } = workflows.find(({ path }) => path.endsWith('release.yaml'))!.workflow;

  it('publishes only in a protected environment', () => {
    const publishing = Object.values(jobs).filter(({ permissions = {} }) =>
      Object.values(permissions).includes('write'),
    );
    expect(publishing.map(({ environment }) => environment)).toEqual(['release', 'release']);
  });

  it('publishes only what is on main, as its jobs follow the check', () => {
    const scripts = (jobs['bundles']?.steps ?? []).map(({ run }) => run);
    expect(scripts).toContain('git merge-base --is-ancestor "$GITHUB_SHA" origin/main');
    expect([jobs['images']?.needs, jobs['release']?.needs]).toEqual(['bundles', 'images']);
  });

  it('runs helm and kubectl only by its own program, which runs those that it builds', () => {
    const lines = stepsOf({ permissions: {}, jobs }).flatMap(({ run = '' }) => run.split('\n'));
    expect(lines).toContain('npm run binaries -- helm kubectl');
    expect(
      lines.filter((line) => /\b(?:helm|kubectl|kustomize) /.test(line.replace(/^npm run binaries .*/, ''))),
    ).toEqual([]);
  });
});
