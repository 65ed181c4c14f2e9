import { describe, expect, it } from 'vitest';
import type { ClustersFile, RemoteEntry } from './file.ts';
import { settingsOfFile } from './file-settings.ts';
import { cidr } from '../../test/support/builders.ts';

const c2 = { name: 'c2', kubeConfigPath: '/c2', podSubnet: '10.4.0.0/16' };
const c3 = { name: 'c3', kubeConfigPath: '/c3', podSubnet: '10.5.0.0/16', wgListenPort: 51_821 };

const file = (...remotes: RemoteEntry[]): ClustersFile => ({ local: { name: 'c1' }, remotes });

function problemsOf(settings: ClustersFile): readonly string[] {
  const parsed = settingsOfFile(settings);
  return parsed.ok ? [] : parsed.problems;
}

describe('settingsOfFile', () => {
  it('has the documented defaults', () => {
    expect(settingsOfFile(file(c2))).toEqual({
      ok: true,
      value: {
        local: { name: 'c1', reference: { kind: 'in-cluster' } },
        remotes: [
          {
            name: 'c2',
            reference: { kind: 'kubeconfig', path: '/c2' },
            podSubnets: [cidr('10.4.0.0/16')],
            device: 'wireguard.c2',
            mtuBytes: 1420,
            measuresMtu: false,
            listenPort: 51_820,
            resyncPeriodMs: 0,
            endpointFamily: undefined,
            endpointFrom: 'internalIP',
            dialOut: false,
            allowedIpsFrom: 'podCIDRs',
            allowedEndpoints: undefined,
            deviceAddress: 'none',
            keyRotation: undefined,
            reportSilentAfterMs: 0,
          },
        ],
      },
    });
  });

  it('reads an empty text and 0 as absent, as Go does', () => {
    const empty = {
      deviceName: '',
      endpointFamily: '',
      allowedIPsFrom: '',
      deviceAddress: '',
      wgDeviceMTU: 0,
      wgListenPort: 0,
      resyncPeriod: 0,
    };
    expect(settingsOfFile(file({ ...c2, ...empty }))).toEqual(settingsOfFile(file(c2)));
  });

  it('reads all fields of a remote', () => {
    const direct = {
      remoteAPIURL: 'https://c2',
      remoteCAURL: 'file:///ca',
      remoteCACertHash: ['sha256:aa'],
      remoteSATokenPath: '/t',
    };
    const ours = {
      deviceName: 'wg-c2',
      endpointFamily: 'ipv6',
      endpointFrom: 'externalIP',
      dialOut: true,
      allowedIPsFrom: 'calico-blocks',
      allowedEndpointCIDRs: ['192.0.2.0/24'],
      deviceAddress: 'FD00:0::1',
    };
    const remote = {
      name: 'cluster-two',
      ...direct,
      podSubnet: ['10.4.0.0/16', 'fd00:4::/48'],
      wgDeviceMTU: 1280,
      wgListenPort: 1,
      resyncPeriod: '1h',
      ...ours,
    };
    expect(settingsOfFile({ local: { name: 'c1', kubeConfigPath: '/k' }, remotes: [remote] })).toEqual({
      ok: true,
      value: {
        local: { name: 'c1', reference: { kind: 'kubeconfig', path: '/k' } },
        remotes: [
          {
            name: 'cluster-two',
            reference: {
              kind: 'api-server',
              apiUrl: 'https://c2',
              caUrl: 'file:///ca',
              caHashes: ['sha256:aa'],
              token: { path: '/t' },
            },
            podSubnets: [cidr('10.4.0.0/16'), cidr('fd00:4::/48')],
            device: 'wg-c2',
            mtuBytes: 1280,
            measuresMtu: false,
            listenPort: 1,
            resyncPeriodMs: 3_600_000,
            endpointFamily: 6,
            endpointFrom: 'externalIP',
            dialOut: true,
            allowedIpsFrom: 'calico-blocks',
            allowedEndpoints: [cidr('192.0.2.0/24')],
            deviceAddress: { ip: 'fd00::1' },
            keyRotation: undefined,
            reportSilentAfterMs: 0,
          },
        ],
      },
    });
  });

  it('reads the families that are used, and takes overlaps of the others', () => {
    const podSubnet = ['10.4.0.0/16', 'fd00:4::/48'];
    const ipv6 = { ...c3, podSubnet: ['10.4.0.0/16', 'fd00:5::/48'], families: ['ipv6'] };
    expect(settingsOfFile(file({ ...c2, podSubnet, families: ['ipv6'] }, ipv6))).toMatchObject({
      ok: true,
      value: {
        remotes: [
          { families: [6], podSubnets: [cidr('fd00:4::/48')] },
          { families: [6], podSubnets: [cidr('fd00:5::/48')] },
        ],
      },
    });
    // One of two is enough.
    expect(problemsOf(file({ ...c2, podSubnet }, ipv6))).toEqual([]);
    expect(problemsOf(file({ ...c2, families: ['ipv6'] }))).toEqual([
      'remotes[0].families: podSubnet has no range of ipv6',
    ]);
  });

  it('has an MTU that is measured begin at what each path carries', () => {
    expect(settingsOfFile(file({ ...c2, wgDeviceMTU: 'auto' }))).toMatchObject({
      ok: true,
      value: { remotes: [{ mtuBytes: 1280, measuresMtu: true }] },
    });
  });

  it('reads how keys rotate', () => {
    const keyRotation = { every: '720h', secondPort: 2, secondDeviceName: 'wg-c2-too' };
    expect(settingsOfFile(file({ ...c2, keyRotation }))).toMatchObject({
      ok: true,
      value: { remotes: [{ keyRotation: { everyMs: 2_592_000_000, secondPort: 2, secondDevice: 'wg-c2-too' } }] },
    });
  });

  it('reads after how long a silent node is reported', () => {
    expect(settingsOfFile(file({ ...c2, deviceAddress: 'auto', reportSilentAfter: '75s' }))).toMatchObject({
      ok: true,
      value: { remotes: [{ reportSilentAfterMs: 75_000 }] },
    });
  });

  it('rotates keys by hand, and names the second device after the first, by default', () => {
    expect(settingsOfFile(file({ ...c2, keyRotation: { secondPort: 51_920 } }))).toMatchObject({
      ok: true,
      value: { remotes: [{ keyRotation: { everyMs: 0, secondPort: 51_920, secondDevice: 'wireguard.c2.1' } }] },
    });
  });

  it.each(['c2.eu', 'C2', 'Eu.2'])(
    'takes the name %s as it is, which the Go program and API servers take for annotations',
    (name) => {
      expect(settingsOfFile(file({ ...c2, name }))).toMatchObject({
        ok: true,
        value: { remotes: [{ name, device: `wireguard.${name}` }] },
      });
    },
  );

  it.each<{ name: string; entry: RemoteEntry; want: RegExp }>([
    { name: 'no name', entry: { ...c2, name: '' }, want: /^remotes\[0\]\.name: "" is not a valid cluster name/ },
    {
      name: 'a name that is not a label',
      entry: { ...c2, name: 'aws_c2' },
      want: /^remotes\[0\]\.name: "aws_c2" is not a valid cluster name/,
    },
    {
      name: 'no address',
      entry: { ...c2, kubeConfigPath: '' },
      want: /^remotes\[0\]\.kubeConfigPath: it is required, or remoteAPIURL/,
    },
    { name: 'no pod subnet', entry: { ...c2, podSubnet: '' }, want: /^remotes\[0\]\.podSubnet: it is required$/ },
    {
      name: 'an empty list of pod subnets',
      entry: { ...c2, podSubnet: [] },
      want: /^remotes\[0\]\.podSubnet: it is required$/,
    },
    {
      name: 'an invalid pod subnet',
      entry: { ...c2, podSubnet: '10.4.0.0' },
      want: /^remotes\[0\]\.podSubnet: "10\.4\.0\.0" is not a valid CIDR/,
    },
    {
      name: 'an invalid pod subnet in a list',
      entry: { ...c2, podSubnet: ['10.4.0.0/16', 'x'] },
      want: /^remotes\[0\]\.podSubnet\[1\]: "x" is not a valid CIDR/,
    },
    {
      name: 'a pod subnet of all addresses',
      entry: { ...c2, podSubnet: '0.0.0.0/0' },
      want: /^remotes\[0\]\.podSubnet: 0\.0\.0\.0\/0 is too wide for one cluster/,
    },
    {
      name: 'pod subnets that are all addresses together',
      entry: { ...c2, podSubnet: ['10.0.0.0/8', '11.0.0.0/8', '12.0.0.0/8'] },
      want: /^remotes\[0\]\.podSubnet: the ranges of IPv4 together are too wide/,
    },
    {
      name: 'a pod subnet where no Pod is',
      entry: { ...c2, podSubnet: '169.254.0.0/16' },
      want: /^remotes\[0\]\.podSubnet: 169\.254\.0\.0\/16 is link-local/,
    },
    {
      name: 'pod subnets that overlap each other',
      entry: { ...c2, podSubnet: ['10.4.0.0/16', '10.4.1.0/24'] },
      want: /^remotes\[0\]\.podSubnet: 10\.4\.1\.0\/24 overlaps with 10\.4\.0\.0\/16 of remotes\[0\]\.podSubnet$/,
    },
    {
      name: 'a name too long for a device',
      entry: { ...c2, name: 'cluster2' },
      want: /^remotes\[0\]\.deviceName: it is required, as wireguard\.cluster2 is longer than 15 characters/,
    },
    {
      name: 'a device name that is too long',
      entry: { ...c2, deviceName: 'wireguard.clust2' },
      want: /^remotes\[0\]\.deviceName: "wireguard\.clust2" is not a valid device name/,
    },
    {
      name: 'a name whose device is one of Calico',
      entry: { ...c2, name: 'cali' },
      want: /^remotes\[0\]\.deviceName: "wireguard\.cali" is a device of Calico$/,
    },
    {
      name: 'a device of Calico',
      entry: { ...c2, deviceName: 'wg-v6.cali' },
      want: /^remotes\[0\]\.deviceName: "wg-v6\.cali" is a device of Calico$/,
    },
    {
      name: 'an invalid port',
      entry: { ...c2, wgListenPort: 70_000 },
      want: /^remotes\[0\]\.wgListenPort: 70000 is not a whole number from 1 to 65535$/,
    },
    { name: 'half a port', entry: { ...c2, wgListenPort: 1.5 }, want: /^remotes\[0\]\.wgListenPort: 1\.5 is not/ },
    {
      name: 'an MTU that is too small',
      entry: { ...c2, wgDeviceMTU: 500 },
      want: /^remotes\[0\]\.wgDeviceMTU: 500 is not a whole number from 576 to/,
    },
    {
      name: 'an MTU that is too small for IPv6',
      entry: { ...c2, podSubnet: ['10.4.0.0/16', 'fd00:4::/48'], wgDeviceMTU: 1279 },
      want: /^remotes\[0\]\.wgDeviceMTU: 1279 is not a whole number from 1280 to/,
    },
    {
      name: 'a negative period',
      entry: { ...c2, resyncPeriod: '-1s' },
      want: /^remotes\[0\]\.resyncPeriod: it must not be negative$/,
    },
    {
      name: 'an unknown family',
      entry: { ...c2, endpointFamily: 'IPv4' },
      want: /^remotes\[0\]\.endpointFamily: "IPv4" is not one of ipv4, ipv6$/,
    },
    {
      name: 'an unknown source of blocks',
      entry: { ...c2, allowedIPsFrom: 'calico' },
      want: /^remotes\[0\]\.allowedIPsFrom: "calico" is not one of podCIDRs, calico-blocks$/,
    },
    {
      name: 'an invalid allowed endpoint CIDR',
      entry: { ...c2, allowedEndpointCIDRs: ['192.0.2.1'] },
      want: /^remotes\[0\]\.allowedEndpointCIDRs\[0\]: /,
    },
    {
      name: 'an invalid device address',
      entry: { ...c2, deviceAddress: 'eth0' },
      want: /^remotes\[0\]\.deviceAddress: "eth0" is not a valid IP address; it must be none, auto or an IP address$/,
    },
    {
      name: 'a device address that every host has',
      entry: { ...c2, deviceAddress: '127.0.0.1' },
      want: /^remotes\[0\]\.deviceAddress: 127\.0\.0\.1 is not the address of a single node$/,
    },
    {
      name: 'a device address that a remote’s pod may have',
      entry: { ...c2, deviceAddress: '10.4.0.1' },
      want: /^remotes\[0\]\.deviceAddress: 10\.4\.0\.1 is in the pod subnet 10\.4\.0\.0\/16$/,
    },
    {
      name: 'an MTU in words',
      entry: { ...c2, wgDeviceMTU: 'large' },
      want: /^remotes\[0\]\.wgDeviceMTU: "large" is neither a number nor auto$/,
    },
    {
      name: 'a rotation without a second port',
      entry: { ...c2, keyRotation: { every: '720h' } },
      want: /^remotes\[0\]\.keyRotation\.secondPort: 0 is not a whole number from 1 to 65535$/,
    },
    {
      name: 'silence that WireGuard has too',
      entry: { ...c2, deviceAddress: 'auto', reportSilentAfter: '19s' },
      want: /^remotes\[0\]\.reportSilentAfter: it must be at least 20s, or 0$/,
    },
    {
      name: 'silence of nodes that do not accept our questions',
      entry: { ...c2, reportSilentAfter: '75s' },
      want: /^remotes\[0\]\.reportSilentAfter: it needs a deviceAddress, such as auto$/,
    },
    {
      name: 'a rotation with addresses that other nodes lend',
      entry: { ...c2, allowedIPsFrom: 'calico-blocks', keyRotation: { secondPort: 51_920 } },
      want: /^remotes\[0\]\.keyRotation: it doesn't work with allowedIPsFrom: calico-blocks$/,
    },
    {
      name: 'a rotation of nodes that dial out',
      entry: { ...c2, dialOut: true, keyRotation: { secondPort: 51_920 } },
      want: /^remotes\[0\]\.keyRotation: it doesn't work with dialOut$/,
    },
    {
      name: 'a rotation with one address',
      entry: { ...c2, podSubnet: '10.4.0.1/32', keyRotation: { secondPort: 51_920 } },
      want: /^remotes\[0\]\.keyRotation: it doesn't work with 10\.4\.0\.1\/32, a pod subnet of one address$/,
    },
    {
      name: 'a rotation all the time',
      entry: { ...c2, keyRotation: { every: '59m', secondPort: 51_920 } },
      want: /^remotes\[0\]\.keyRotation\.every: it must be at least 1h, or 0$/,
    },
    {
      name: 'a device name too long for a second one',
      entry: { ...c2, deviceName: 'wireguard.two2', keyRotation: { secondPort: 51_920 } },
      want: /^remotes\[0\]\.keyRotation\.secondDeviceName: it is required, as wireguard\.two2\.1 is longer than 15 characters$/,
    },
    {
      name: 'a second port that is the first',
      entry: { ...c2, keyRotation: { secondPort: 51_820 } },
      want: /^remotes\[0\]\.keyRotation\.secondPort: 51820 is used twice$/,
    },
  ])('refuses $name', ({ entry, want }) => {
    expect(problemsOf(file(entry))).toEqual([expect.stringMatching(want)]);
  });

  it.each<{ name: string; settings: ClustersFile; want: string }>([
    {
      name: 'no name of the local cluster',
      settings: { remotes: [c2] },
      want: 'local.name: "" is not a valid cluster name: letters, digits, and inner hyphens and dots',
    },
    {
      name: 'a remote with the local name',
      settings: file({ ...c2, name: 'c1' }),
      want: 'remotes: name c1 is that of the local cluster',
    },
    {
      name: 'two remotes with one name',
      settings: file(c2, { ...c3, name: 'c2', deviceName: 'wg-c2' }),
      want: 'remotes: name c2 is used twice',
    },
    {
      name: 'two remotes with one device',
      settings: file(c2, { ...c3, deviceName: 'wireguard.c2' }),
      want: 'remotes: device wireguard.c2 is used twice',
    },
    {
      name: 'two remotes with one port',
      settings: file(c2, { ...c3, wgListenPort: 51_820 }),
      want: 'remotes: wgListenPort 51820 is used twice',
    },
    {
      name: 'a second device that another remote has',
      settings: file({ ...c2, keyRotation: { secondPort: 51_920 } }, { ...c3, deviceName: 'wireguard.c2.1' }),
      want: 'remotes[0].keyRotation.secondDeviceName: wireguard.c2.1 is used twice',
    },
    {
      name: 'two remotes with overlapping pod subnets',
      settings: file(c2, { ...c3, podSubnet: ['fd00::/48', '10.4.64.0/18'] }),
      want: 'remotes[1].podSubnet: 10.4.64.0/18 overlaps with 10.4.0.0/16 of remotes[0].podSubnet',
    },
  ])('refuses $name', ({ settings, want }) => {
    expect(problemsOf(settings)).toEqual([want]);
  });

  it('names every problem at once, and each only once', () => {
    const nothing = { kubeConfigPath: '/c', wgListenPort: -1 };
    expect(problemsOf({ local: { name: 'C_1' }, remotes: [nothing, nothing] })).toEqual([
      expect.stringMatching(/^local\.name: "C_1" is not a valid cluster name/),
      ...[0, 1].flatMap((i) => [
        expect.stringMatching(new RegExp(`^remotes\\[${i}\\]\\.name: `)),
        `remotes[${i}].podSubnet: it is required`,
        `remotes[${i}].wgListenPort: -1 is not a whole number from 1 to 65535`,
      ]),
    ]);
  });
});

it('names one overlap for each subnet', () => {
  const problems = problemsOf(file({ ...c2, podSubnet: Array.from({ length: 1_000 }, () => '10.4.0.0/16') }));
  expect(problems).toHaveLength(999);
});
