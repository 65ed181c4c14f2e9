import { fieldsMissingIn } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { clustersFile, parseClustersFile } from './file.ts';

/** The example file of the Go program's repository, with other host names. */
const ADOPTED = {
  local: { name: 'cluster1' },
  remotes: [
    {
      name: 'c2',
      remoteAPIURL: 'https://lb.c2',
      remoteCAURL: 'https://ca.c2',
      remoteSATokenPath: '/etc/semaphore-wireguard/tokens/c2/token',
      podSubnet: '10.4.0.0/16',
      wgDeviceMTU: 1380,
      wgListenPort: 51_821,
    },
  ],
};

describe('the file of -clusters-config', () => {
  it('is that of the Go program', () => {
    expect(parseClustersFile(JSON.stringify(ADOPTED, null, 2))).toEqual({ ok: true, value: ADOPTED, warnings: [] });
  });

  it('has our fields', () => {
    const ours = {
      podSubnet: ['10.4.0.0/16', 'fd00:4::/48'],
      deviceName: 'wg-c2',
      endpointFamily: 'ipv6',
      allowedIPsFrom: 'calico-blocks',
      allowedEndpointCIDRs: ['192.0.2.0/24'],
      deviceAddress: 'auto',
      keyRotation: { every: '720h', secondPort: 51_920, secondDeviceName: 'wg-c2-too' },
    };
    const value = {
      local: { name: 'c1', kubeConfigPath: '/k' },
      remotes: [{ name: 'c2', kubeConfigPath: '/c2', resyncPeriod: 1e9, ...ours }],
    };
    expect(parseClustersFile(JSON.stringify(value))).toEqual({ ok: true, value, warnings: [] });
  });

  it('is read as Go reads JSON: keys in any case, null as absent', () => {
    const file = parseClustersFile(
      '{"Local": {"NAME": "c1", "kubeConfigPath": null}, "remotes": [{"podsubnet": "10.4.0.0/16", "wgDeviceMtu": 1400}]}',
    );
    expect(file).toEqual({
      ok: true,
      value: { local: { name: 'c1' }, remotes: [{ podSubnet: '10.4.0.0/16', wgDeviceMTU: 1400 }] },
      warnings: [],
    });
  });

  it('may have unknown keys', () => {
    const file = parseClustersFile('remotes: [{ name: c2, owner: me }]\ncomment: hello\n');
    expect(file).toMatchObject({ ok: true, value: { remotes: [{ name: 'c2' }] } });
    expect(file.ok && file.warnings.toSorted()).toEqual([
      'remotes[0]: unknown key owner',
      'the file: unknown key comment',
    ]);
  });

  it.each([
    { key: 'wgListenPrt', want: 'remotes[0]: unknown key wgListenPrt, did you mean wgListenPort?' },
    {
      key: 'allowdEndpointCIDRs',
      want: 'remotes[0]: unknown key allowdEndpointCIDRs, did you mean allowedEndpointCIDRs?',
    },
  ])('is refused with $key, which is like a known one', ({ key, want }) => {
    expect(parseClustersFile(`remotes: [{ name: c2, ${key}: [] }]`)).toEqual({ ok: false, problems: [want] });
  });

  it.each([
    { name: 'no remotes', source: 'local: { name: c1 }', want: /^remotes: / },
    { name: 'an empty list of remotes', source: 'remotes: []', want: /^remotes: / },
    {
      name: 'a port that is a text',
      source: 'remotes: [{ wgListenPort: "51820" }]',
      want: /^remotes\[0\]\.wgListenPort: /,
    },
    {
      name: 'a pod subnet that is a number',
      source: 'remotes: [{ podSubnet: 10 }]',
      want: /^remotes\[0\]\.podSubnet: /,
    },
  ])('is refused with $name', ({ source, want }) => {
    expect(parseClustersFile(source)).toEqual({ ok: false, problems: [expect.stringMatching(want)] });
  });

  it('has a value of the chart for each field', () => {
    const fields = z.toJSONSchema(clustersFile, { io: 'input', unrepresentable: 'any' });
    expect(fieldsMissingIn('semaphore-wireguard', fields, 'remotes')).toEqual([]);
  });
});
