import { describe, expect, it } from 'vitest';
import { durationOf, parseConfigFile } from './config-file.ts';

const problems = (source: string) => {
  const file = parseConfigFile(source);
  return file.ok ? [] : file.problems;
};

describe('parseConfigFile', () => {
  it('reads JSON with everything that SPEC.md names', () => {
    const remote = {
      name: 'c2',
      kubeConfigPath: '',
      remoteAPIURL: 'https://c2:6443',
      remoteCAURL: 'file:///ca.crt',
      remoteSATokenPath: '/token',
      allowedPodCIDRs: ['10.4.0.0/16'],
      podResyncPeriod: '1h',
    };
    const file = { local: { kubeConfigPath: '/local' }, remotes: [remote] };
    expect(parseConfigFile(JSON.stringify(file))).toEqual({ ok: true, value: file });
  });

  it('reads YAML, and does without what is optional', () => {
    expect(parseConfigFile('remotes:\n  - name: c2\n    kubeConfigPath: /c2\n')).toMatchObject({ ok: true });
  });

  it.each([
    { name: 'is neither YAML nor JSON', source: '{"remotes": [', want: [/^it is neither YAML nor JSON: /] },
    { name: 'is empty', source: '', want: [/^the file: /] },
    { name: 'has no remotes', source: 'local: {}', want: [/^remotes: /] },
    { name: 'has an empty list of them', source: 'remotes: []', want: [/^remotes: /] },
    {
      name: 'has keys that nobody knows, all of them named',
      source: 'remote: x\nremotes: [{ name: c2, allowedPodCIDR: [] }]\n',
      want: [/^remotes\[0\] has unknown keys: allowedPodCIDR$/, /^the file has unknown keys: remote$/],
    },
    { name: 'has a field of another type', source: 'remotes: [{ name: 7 }]', want: [/^remotes\[0\]\.name: /] },
  ])('refuses a file that $name', ({ source, want }) => {
    expect(problems(source).toSorted()).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });
});

describe('durationOf', () => {
  it.each([
    { value: '1h', want: 3_600_000 },
    { value: 1_500_000_000, want: 1_500 },
    { value: 0, want: 0 },
    { value: '0', want: 0 },
  ])('reads $value as Go does', ({ value, want }) => {
    expect(durationOf(value)).toEqual({ ok: true, value: want });
  });

  it.each(['1', 'soon', Infinity])('refuses %s', (value) => {
    expect(durationOf(value)).toMatchObject({ ok: false });
  });
});
