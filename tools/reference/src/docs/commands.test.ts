import { describe, expect, it } from 'vitest';
import { callsIn, pathsIn, scriptsIn, typedIn, yamlIn } from './commands.ts';

describe('callsIn', () => {
  it.each([
    {
      name: 'a plain one',
      script: 'semaphore-policy -config x',
      want: { program: 'semaphore-policy', subcommand: undefined, flags: ['config'] },
    },
    {
      name: 'one over several lines',
      script: 'npx semaphore-policy \\\n  -a-b x \\\n  --c=-1s',
      want: { program: 'semaphore-policy', subcommand: undefined, flags: ['a-b', 'c'] },
    },
    {
      name: 'a subcommand in a container',
      script: 'kubectl exec daemonset/semaphore-wireguard -- /semaphore-wireguard plan -o json | jq .',
      want: { program: 'semaphore-wireguard', subcommand: 'plan', flags: ['o'] },
    },
  ])('finds $name', ({ script, want }) => {
    expect(callsIn(script)).toEqual([want]);
  });

  it('ignores objects with the name of a program', () => {
    expect(
      callsIn(
        'kubectl get deployment/semaphore-policy\nkubectl get secret semaphore-policy\nls | grep semaphore-policy-',
      ),
    ).toEqual([]);
  });
});

it('finds scripts', () => {
  expect(scriptsIn('`npm run demo -- --keep`, npm run test:real')).toEqual(['demo', 'test:real']);
});

it('finds paths of the repository, and no others', () => {
  expect(
    pathsIn(
      'kubectl apply -k deploy/a/base -f gatekeeper/x.yaml; ls */docs/x https://h/deploy/y rollout/deploy/z\nx <<YAML\napps/v1\nYAML\n',
    ),
  ).toEqual(['deploy/a/base', 'gatekeeper/x.yaml']);
});

it('finds YAML in here-documents', () => {
  expect(yamlIn("a <<'YAML'\nb: c\nYAML\nd <<YAML | e\nf: $1\nYAML\ng <<TEXT\nh\nTEXT\n")).toEqual(['b: c', 'f: $1']);
});

it('finds typed commands', () => {
  expect(typedIn('$ a b\nc\n$ d\n')).toBe('a b\nd');
});
