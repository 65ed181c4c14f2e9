import { type IpFamily, mustParseCidr } from '@kube-semaphore/net';
import { describe, expect, it } from 'vitest';
import { linkedCluster as cluster } from '../../../test/support/linked-cluster.ts';
import { type Choices, choicesText } from '../choices.ts';
import { knownRemotes } from './config-files.ts';
import { usedOf } from '../findings/families.ts';
import type { Cluster } from '../findings/findings.ts';
import type { Files } from './folder.ts';
import { overlayOf } from './overlay.ts';

const overlay = (
  own: Cluster,
  {
    remotes = [cluster('c2')],
    families = [4, 6],
    existing = new Map(),
    ...choices
  }: { remotes?: readonly Cluster[]; families?: readonly IpFamily[]; existing?: Files } & Choices = {},
): Files =>
  overlayOf(own, {
    remotes: remotes.map((remote) => usedOf(remote, families)),
    existing,
    choices,
    version: '0.1.0',
    deploy: (folder) => `deploy/${folder}`,
  });

const tunnelsOf = (files: Files): unknown => (JSON.parse(files.get('wireguard.json')!) as { remotes: unknown }).remotes;

describe('an overlay', () => {
  it('has a free port and a short device name for each remote', () => {
    const remotes = ['very-long-name-of-it', 'production', 'c2'].map((name) => cluster(name));
    expect(tunnelsOf(overlay(cluster('c1', { takenPorts: [51_820] }), { remotes }))).toMatchObject([
      { name: 'c2', wgListenPort: 51_821 },
      { name: 'production', wgListenPort: 51_822, deviceName: 'wg-production' },
      {
        name: 'very-long-name-of-it',
        wgListenPort: 51_823,
        deviceName: expect.stringMatching(/^wg-[0-9a-v]{10}$/) as unknown,
      },
    ]);
  });

  it('has one family of a remote, also in IPPools, until another run uses both', () => {
    const remotes = [cluster('c2', { podCidrs: ['10.4.0.0/16', 'fd00:4::/48'].map(mustParseCidr) })];
    const existing = overlay(cluster('c1'), { remotes, families: [6] });
    expect(tunnelsOf(existing)).toMatchObject([{ families: ['ipv6'], podSubnet: 'fd00:4::/48' }]);
    for (const file of ['policy.json', 'service-mirror.json'])
      expect(existing.get(file)?.replaceAll(/\s/g, '')).toContain(
        '"families":["ipv6"],"allowedPodCIDRs":["fd00:4::/48"]',
      );
    expect(existing.get('ip-pools.yaml')).not.toContain('10.4.0.0/16');
    expect(knownRemotes(existing)).toMatchObject([{ families: [6] }]);
    const both = overlay(cluster('c1'), { remotes, existing });
    expect(both).toEqual(overlay(cluster('c1'), { remotes }));
  });

  it('keeps ports, devices and settings, but for a port that is in use', () => {
    const existing = new Map([
      [
        'wireguard.json',
        JSON.stringify({
          local: { name: 'c1' },
          remotes: [
            {
              name: 'c2',
              wgListenPort: 7_000,
              deviceName: 'wg9',
              allowedIPsFrom: 'calico-blocks',
              deviceAddress: 'auto',
            },
            { name: 'c9', wgListenPort: 51_820 },
            { name: 'c3', wgListenPort: 7_001 },
          ],
        }),
      ],
    ]);
    const remotes = [cluster('c3'), cluster('c2')];
    expect(tunnelsOf(overlay(cluster('c1', { takenPorts: [7_001] }), { remotes, existing }))).toMatchObject([
      { name: 'c2', wgListenPort: 7_000, deviceName: 'wg9', deviceAddress: 'auto', remoteAPIURL: 'https://c2' },
      { name: 'c3', wgListenPort: 51_821 },
      { name: 'c9', wgListenPort: 51_820 },
    ]);
  });

  it('deletes mirrors and global Services whose source is gone, unlike a file without these fields', () => {
    expect(JSON.parse(overlay(cluster('c1')).get('service-mirror.json')!)).toMatchObject({
      global: { serviceSync: true, endpointSliceSync: true },
    });
  });

  it('reads and offers the blocks of Calico', () => {
    const blocks = cluster('c2', { ipam: 'calico-blocks' });
    expect(tunnelsOf(overlay(cluster('c1'), { remotes: [blocks] }))).toMatchObject([
      { allowedIPsFrom: 'calico-blocks' },
    ]);
    expect(overlay(blocks).get('kustomization.yaml')).toContain('  - deploy/wireguard/components/calico-blocks\n');
  });

  it('has both families of a remote', () => {
    const podCidrs = ['10.4.0.0/16', 'fd00:4::/48'].map(mustParseCidr);
    const files = overlay(cluster('c1', { calico: 'crd.projectcalico.org/v1' }), {
      remotes: [cluster('c2', { podCidrs })],
    });
    expect(tunnelsOf(files)).toMatchObject([{ podSubnet: ['10.4.0.0/16', 'fd00:4::/48'] }]);
    expect(files.get('ip-pools.yaml')?.split('---\n')).toEqual([
      expect.stringMatching(/name: remote-c2\n[^]*cidr: 10\.4\.0\.0\/16\n[^]*blockSize: 26\n/),
      expect.stringMatching(/name: remote-c2-2\n[^]*cidr: fd00:4::\/48\n[^]*blockSize: 122\n/),
    ]);
  });

  it('has no semaphore-policy without Calico and NetworkPolicies, and no agent without tunnels', () => {
    const files = overlay(cluster('c1', { calico: undefined }), { wireguard: false });
    expect([...files.keys()].toSorted()).toEqual(['kustomization.yaml', 'remote-c2.yaml', 'service-mirror.json']);
    const text = [...files.values()].join('\n');
    expect(text).not.toMatch(/wireguard|semaphore-policy|policy\/base/);
    // Others read this cluster.
    expect(text).toContain('deploy/policy/remote\n');
  });

  it('lets NetworkPolicies name another cluster, and others read its namespaces', () => {
    const parts = (change: Partial<Cluster>) =>
      overlay(cluster('c1', change), { networkPolicies: true })
        .get('kustomization.yaml')!
        .match(/policy\/base|ip-pools|components\/(?:network|remote)\S+/g);
    const components = ['components/network-policies', 'components/remote-namespaces'];
    expect(parts({})).toEqual(['policy/base', 'ip-pools', ...components]);
    expect(parts({ calico: undefined })).toEqual(['policy/base', ...components]);
    const remote = overlay(cluster('c1', { calico: undefined }), { networkPolicies: true }).get('remote-c2.yaml');
    expect(remote).toContain('secretName: semaphore-policy-c2\n');
  });

  it('brings the kinds of Multi-Cluster Services, unless the cluster has them from others, and their config', () => {
    const parts = (text = '') => text.match(/service-mirror\/(?:mcs|components\/\S*mcs)|CustomResourceDefinition \}/g);
    const both = ['components/mcs', 'components/remote-mcs'].map((name) => `service-mirror/${name}`);
    const [own, others] = [false, true].map((hasMcs) => overlay(cluster('c1', { hasMcs }), { mcs: true }));
    expect(parts(own!.get('kustomization.yaml'))).toEqual(['service-mirror/mcs', ...both]);
    expect(parts(others!.get('kustomization.yaml'))).toEqual([
      'service-mirror/mcs',
      ...both,
      'CustomResourceDefinition }',
    ]);
    expect(JSON.parse(own!.get('service-mirror.json')!)).toMatchObject({ mcs: {} });
    // Now the cluster has the kinds, by this overlay.
    for (const files of [own!, others!]) {
      const existing = new Map([...files, ['link.json', '{ "mcs": true }']]);
      expect(overlay(cluster('c1', { hasMcs: true }), { existing, mcs: true })).toEqual(files);
      const without = overlay(cluster('c1', { hasMcs: true }), { existing, mcs: false });
      expect([parts(without.get('kustomization.yaml')), without.get('service-mirror.json')]).toEqual([
        null,
        overlay(cluster('c1')).get('service-mirror.json'),
      ]);
    }
  });

  it('goes without admission policies before Kubernetes 1.30', () => {
    const components = (minor: number) =>
      overlay(cluster('c1', { minor }))
        .get('kustomization.yaml')!
        .match(/before-1\.30/g);
    expect([components(29)?.length, components(30)]).toEqual([3, null]);
  });

  it('has the images of a registry', () => {
    expect(overlay(cluster('c1'), { registry: 'r.example/s' }).get('kustomization.yaml')).toContain(
      '  - name: semaphore-policy\n    newName: r.example/s/semaphore-policy\n    newTag: 0.1.0\n',
    );
  });

  describe('limits what remotes may announce:', () => {
    const own = cluster('c1', {
      podCidrs: [mustParseCidr('10.2.0.0/16')],
      serviceCidrs: [mustParseCidr('10.3.0.0/16')],
      nodeCidrs: [mustParseCidr('172.18.0.0/16')],
    });
    const c2 = cluster('c2', { nodeCidrs: [mustParseCidr('172.19.0.0/16')] });
    const localCIDRs = ['10.2.0.0/16', '10.3.0.0/16', '172.18.0.0/16'];

    const configs = (files: Files) =>
      ['policy', 'service-mirror', 'wireguard'].map((app) => JSON.parse(files.get(`${app}.json`)!) as object);

    /** The folder after a run, in which somebody then changed the files of the apps. */
    const folder = (change: (text: string) => string = (text) => text): Files =>
      new Map([
        ...[...overlay(own, { remotes: [c2] })].map(([name, text]) => [name, change(text)] as const),
        ['link.json', choicesText({}, '', { written: { localCIDRs, endpointCIDRs: { c2: ['172.19.0.0/16'] } } })],
      ]);

    const limited = (cidrs: readonly string[] | undefined, endpoints: readonly string[] | undefined) => [
      { local: { cidrs }, remotes: [{ name: 'c2' }] },
      { localCluster: { name: 'c1', cidrs }, remoteClusters: [{ name: 'c2' }] },
      { local: { name: 'c1' }, remotes: [{ name: 'c2', allowedEndpointCIDRs: endpoints }] },
    ];

    it('addresses of its own, and endpoints that are no nodes of theirs', () => {
      expect(configs(folder())).toMatchObject(limited(localCIDRs, ['172.19.0.0/16']));
      expect(overlay(own, { remotes: [c2], existing: folder() })).toEqual(overlay(own, { remotes: [c2] }));
    });

    it('by other ranges when its own or those of a remote change', () => {
      const [moved, grown] = [own, c2].map((each) => ({ ...each, nodeCidrs: [mustParseCidr('10.9.0.0/16')] }));
      expect(configs(overlay(moved!, { remotes: [grown!], existing: folder() }))).toMatchObject(
        limited(['10.2.0.0/16', '10.3.0.0/16', '10.9.0.0/16'], ['10.9.0.0/16']),
      );
    });

    it('by what a user chose, also if that is nothing', () => {
      const nodeCidrs = [mustParseCidr('10.9.0.0/16')];
      const again = (change: (text: string) => string) =>
        configs(overlay(own, { remotes: [{ ...c2, nodeCidrs }], existing: folder(change) }));
      expect(again((text) => text.replaceAll(/172\.1[89]\.0\.0\/16/g, '172.16.0.0/12'))).toMatchObject(
        limited(['10.2.0.0/16', '10.3.0.0/16', '172.16.0.0/12'], ['172.16.0.0/12']),
      );
      const without = again((text) => text.replaceAll(/,?\s*"(?:cidrs|allowedEndpointCIDRs)": \[[^\]]*\]/g, ''));
      expect(JSON.stringify(without)).not.toMatch(/cidrs|Endpoint/);
    });

    it('in files that an earlier version wrote without limits, and for a remote that returns', () => {
      const files = overlay(own, { remotes: [] });
      const before = new Map(
        [...files].map(([name, text]) => [name, text.replaceAll(/,?\s*"cidrs": \[[^\]]*\]/g, '')] as const),
      );
      const written = choicesText({}, '', { written: { endpointCIDRs: { c2: ['172.20.0.0/16'] } } });
      const existing = new Map([...before, ['link.json', written]]);
      expect(configs(overlay(own, { remotes: [c2], existing }))).toMatchObject(limited(localCIDRs, ['172.19.0.0/16']));
    });
  });

  it('tells which remotes it has', () => {
    expect(knownRemotes(overlay(cluster('c1')))).toEqual([
      { name: 'c2', server: 'https://c2', podCidrs: [mustParseCidr('10.4.0.0/16')], nodeCidrs: [] },
    ]);
  });
});
