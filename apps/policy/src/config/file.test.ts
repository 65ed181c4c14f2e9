import { parseConfigFile } from '@kube-semaphore/multicluster';
import { fieldsMissingIn } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { configFileSchema } from './file.ts';

const parsed = (source: string) => parseConfigFile(source, configFileSchema, { unknownKeys: 'error' });

describe('the file of -config', () => {
  it('has the documented fields', () => {
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
    expect(parsed(JSON.stringify(file))).toMatchObject({ ok: true, value: file });
  });

  it('needs no optional field', () => {
    expect(parsed('remotes:\n  - name: c2\n    kubeConfigPath: /c2\n')).toMatchObject({ ok: true });
  });

  it.each([
    { name: 'no remotes', source: 'local: {}', want: /^remotes: / },
    { name: 'an empty list of remotes', source: 'remotes: []', want: /^remotes: / },
    { name: 'a remote without a name', source: 'remotes: [{ kubeConfigPath: /c2 }]', want: /^remotes\[0\]\.name: / },
    {
      name: 'a misspelled limit',
      source: 'remotes: [{ name: c2, allowedPodCIDR: [] }]',
      want: /^remotes\[0\]: unknown key allowedPodCIDR, did you mean allowedPodCIDRs\?$/,
    },
  ])('is refused with $name', ({ source, want }) => {
    expect(parsed(source)).toEqual({ ok: false, problems: [expect.stringMatching(want)] });
  });

  it('has a value of the chart for each field', () => {
    const fields = z.toJSONSchema(configFileSchema, { io: 'input', unrepresentable: 'any' });
    expect(fieldsMissingIn('semaphore-policy', fields, 'remotes')).toEqual([]);
  });
});
