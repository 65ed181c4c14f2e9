import { describe, expect, it } from 'vitest';
import type { ConfigFile } from './file.ts';
import { isAllowedNamespace } from '../names.ts';
import { settingsOfFile, type BesideFile } from './file-settings.ts';

const nothingGiven: BesideFile['options'] = {
  kubeConfig: undefined,
  localCidrs: undefined,
  mirrorNs: undefined,
  labelSelector: undefined,
  mirrorSvcLabelSelector: undefined,
  globalSvcLabelSelector: undefined,
  globalSvcRoutingStrategyLabel: undefined,
};

const remoteClusters = [{ name: 'c2', servicePrefix: 'c2', kubeConfigPath: '/c2' }];
const global = {
  mirrorSvcLabelSelector: 'mirror=1',
  globalSvcLabelSelector: 'global=1',
  globalSvcRoutingStrategyLabel: 'local-first=1',
  mirrorNamespace: 'sys',
};
const complete: ConfigFile = { global, localCluster: { name: 'c1' }, remoteClusters };

type Given = Partial<BesideFile['options']>;

const read = (file: ConfigFile, given: Given = {}, place: Partial<BesideFile> = {}) =>
  settingsOfFile(file, { options: { ...nothingGiven, ...given }, isPod: true, canRead: () => true, ...place });

describe('settingsOfFile', () => {
  it('has the documented defaults', () => {
    expect(read(complete)).toEqual({
      ok: true,
      value: {
        local: { name: 'c1', reference: { kind: 'in-cluster' }, zones: [], cidrs: [], properties: new Map() },
        mirrorNamespace: 'sys',
        mirrorSelector: 'mirror=1',
        // A file without the field is one of the Go program, which set hints on all endpoints.
        global: {
          selector: 'global=1',
          routingStrategyLabel: 'local-first=1',
          hints: 'always',
          clusterOrder: new Map(),
          slicesSync: false,
        },
        mcs: undefined,
        serviceSync: false,
        remotes: [expect.objectContaining({ name: 'c2' })],
      },
      warnings: [],
    });
  });

  it('reads every field of a file', () => {
    const file = {
      global: { ...global, globalSvcHints: 'labelled', serviceSync: true, endpointSliceSync: true },
      localCluster: {
        name: 'c1',
        zones: ['a', 'b'],
        cidrs: ['10.2.0.0/16'],
        properties: { region: 'eu' },
        kubeConfigPath: '/local',
      },
      remoteClusters,
    };
    expect(read(file)).toMatchObject({
      value: {
        local: {
          reference: { kind: 'kubeconfig', path: '/local' },
          zones: ['a', 'b'],
          cidrs: [{ text: '10.2.0.0/16' }],
          properties: new Map([['region', 'eu']]),
        },
        global: { hints: 'labelled', slicesSync: true },
        serviceSync: true,
      },
    });
  });

  it.each([
    { properties: { region: 'eu,us' }, isValid: false },
    { properties: { region: '' }, isValid: false },
    { properties: { 'a=b': 'c' }, isValid: false },
    { properties: { 'team.example/tier': 'prod' }, isValid: true },
  ])('takes the properties $properties: $isValid, as annotations list them', ({ properties, isValid }) => {
    expect(read({ ...complete, localCluster: { name: 'c1', properties } }).ok).toBe(isValid);
  });

  it('imports to the namespaces of users, unless the file names others', () => {
    const allowedBy = (mcs: ConfigFile['mcs']) => {
      const settings = read({ ...complete, mcs });
      return ['shop', 'default', 'kube-system'].filter(
        (name) => settings.ok && isAllowedNamespace(settings.value.mcs!, name),
      );
    };
    expect(allowedBy({})).toEqual(['shop']);
    expect(allowedBy({ namespaces: ['default', 'kube-system'] })).toEqual(['default', 'kube-system']);
    expect(read({ ...complete, mcs: { exportedLabelPrefixes: ['a'] } })).toMatchObject({
      value: { mcs: { derivedServices: 'namespace', namespaces: undefined, exportedLabelPrefixes: ['a'] } },
    });
  });

  it('allows the prefix mcs where no Service of an import is beside mirrors', () => {
    const remote = { ...remoteClusters[0]!, servicePrefix: 'mcs' };
    for (const mcs of [undefined, {}]) expect(read({ ...complete, mcs, remoteClusters: [remote] }).ok).toBe(true);
  });

  it('lets flags override the file', () => {
    const given = {
      kubeConfig: '/flag',
      localCidrs: [],
      mirrorNs: 'ns',
      mirrorSvcLabelSelector: 'm=2',
      globalSvcLabelSelector: 'g=2',
      globalSvcRoutingStrategyLabel: 'r=2',
    };
    expect(
      read({ ...complete, localCluster: { name: 'c1', kubeConfigPath: '/file', cidrs: ['10.2.0.0/16'] } }, given),
    ).toMatchObject({
      value: {
        local: { reference: { kind: 'kubeconfig', path: '/flag' }, cidrs: [] },
        mirrorNamespace: 'ns',
        mirrorSelector: 'm=2',
        global: { selector: 'g=2', routingStrategyLabel: 'r=2' },
      },
      warnings: [],
    });
  });

  it('takes from flags what the file leaves out', () => {
    const given = { mirrorNs: 'ns', mirrorSvcLabelSelector: 'm=2', globalSvcLabelSelector: 'g=2' };
    expect(read({ localCluster: { name: 'c1' }, remoteClusters }, given)).toMatchObject({
      ok: true,
      value: { global: { routingStrategyLabel: undefined } },
    });
  });

  it('reads the file of the first Go program, without global services', () => {
    const file = { global: { labelSelector: 'mirror=1', mirrorNamespace: 'sys', serviceSync: true }, remoteClusters };
    expect(read(file)).toMatchObject({
      value: { local: { name: 'local' }, mirrorSelector: 'mirror=1', global: undefined, serviceSync: true },
      warnings: ['global.labelSelector is an older spelling: use mirrorSvcLabelSelector'],
    });
  });

  it.each(['globalSvcTopologyLabel', 'globalSvcRoutingStrategy'])(
    'reads the routing label under its older name %s',
    (older) => {
      const { globalSvcRoutingStrategyLabel: label, ...others } = global;
      expect(read({ ...complete, global: { ...others, [older]: label } })).toMatchObject({
        value: { global: { routingStrategyLabel: 'local-first=1' } },
        warnings: [`global.${older} is an older spelling: use globalSvcRoutingStrategyLabel`],
      });
    },
  );

  it.each([
    {
      name: 'overrides the older field',
      section: { labelSelector: 'file=1' },
      want: {
        value: { mirrorSelector: 'flag=1' },
        warnings: [
          /^-label-selector .* is an older spelling: use -mirror-svc-label-selector /,
          /^global\.labelSelector is ignored: -label-selector /,
        ],
      },
    },
    {
      name: 'does not override the newer field, as in the Go program',
      section: { mirrorSvcLabelSelector: 'file=1' },
      want: {
        value: { mirrorSelector: 'file=1' },
        warnings: [/^-label-selector .* is ignored: global\.mirrorSvcLabelSelector overrides it$/],
      },
    },
  ])('accepts -label-selector with a warning: it $name', ({ section, want }) => {
    expect(
      read({ global: { mirrorNamespace: 'sys', ...section }, remoteClusters }, { labelSelector: 'flag=1' }),
    ).toMatchObject({
      value: want.value,
      warnings: want.warnings.map((pattern) => expect.stringMatching(pattern)),
    });
  });

  describe("with a kubeconfig in the file that can't be read", () => {
    const file = { ...complete, localCluster: { name: 'c1', kubeConfigPath: '/gone' } };

    it('uses the service account in a pod, and warns', () => {
      expect(read(file, {}, { canRead: () => false })).toMatchObject({
        value: { local: { reference: { kind: 'in-cluster' } } },
        warnings: [expect.stringMatching(/^localCluster\.kubeConfigPath: \/gone can't be read/)],
      });
    });

    it('uses it elsewhere, and fails with its name', () => {
      expect(read(file, {}, { canRead: () => false, isPod: false })).toMatchObject({
        value: { local: { reference: { kind: 'kubeconfig', path: '/gone' } } },
        warnings: [],
      });
    });
  });

  it.each([
    {
      name: 'missing fields, with the flags that could set them',
      file: { remoteClusters: [{}] },
      want: [
        '-mirror-ns or SSM_MIRROR_NS is required, or global.mirrorNamespace',
        '-mirror-svc-label-selector or SSM_MIRROR_SVC_LABEL_SELECTOR is required, or global.mirrorSvcLabelSelector',
        'remoteClusters[0].name is required',
        'remoteClusters[0].servicePrefix is required',
        expect.stringMatching(/^remoteClusters\[0\]\.kubeConfigPath: it is required/),
      ],
    },
    {
      name: 'invalid fields',
      file: {
        global: { ...global, globalSvcHints: 'never', mirrorNamespace: 'Sys' },
        localCluster: { name: 'c2', zones: ['remote'] },
        remoteClusters,
      },
      want: [
        'global.mirrorNamespace: "Sys" is not a valid namespace name',
        'global.globalSvcHints: "never" is not one of labelled, always',
        expect.stringMatching(/^localCluster\.zones\[0\]: "remote" /),
        'remoteClusters: name c2 is that of the local cluster',
      ],
    },
    {
      name: 'global services without the name of the local cluster',
      file: { global, remoteClusters },
      want: ['localCluster.name is required'],
    },
    {
      name: 'an invalid section for Multi-Cluster Services, each field with its reason',
      file: {
        ...complete,
        localCluster: { name: 'c_1' },
        mcs: { derivedServices: 'elsewhere', namespaces: ['Shop'], exportedLabelPrefixes: ['', 'team.example/'] },
      },
      want: [
        'mcs.namespaces[0]: "Shop" is not a valid namespace name',
        'mcs.exportedLabelPrefixes[0]: "" can\'t begin the key of a label',
        'mcs: the cluster name c_1 must be a DNS label, as names of endpoints contain it',
        'mcs.derivedServices: "elsewhere" is not one of namespace, mirrorNamespace',
      ],
    },
    {
      name: 'Multi-Cluster Services without a namespace, or a name of the local cluster',
      file: {
        global: { ...global, globalSvcLabelSelector: '', globalSvcRoutingStrategyLabel: '' },
        mcs: { namespaces: [] },
        remoteClusters,
      },
      want: ['localCluster.name is required', 'mcs.namespaces: must name at least one namespace'],
    },
    {
      name: 'prefixes of Services of imports, where these are beside mirrors',
      file: {
        ...complete,
        mcs: { derivedServices: 'mirrorNamespace' },
        remoteClusters: ['mcs', 'mcs-eu', 'mcsx'].map((name) => ({ name, servicePrefix: name, kubeConfigPath: '/c' })),
      },
      want: ['mcs', 'mcs-eu'].map(
        (prefix) =>
          `remoteClusters: servicePrefix ${prefix} is reserved for Services of imports with mcs.derivedServices: mirrorNamespace`,
      ),
    },
    {
      name: 'routing without global services',
      file: { ...complete, global: { ...global, globalSvcLabelSelector: '' } },
      want: [
        '-global-svc-label-selector or SSM_GLOBAL_SVC_LABEL_SELECTOR is required, or global.globalSvcLabelSelector',
      ],
    },
  ])('refuses $name', ({ file, want }) => {
    expect(read(file)).toEqual({ ok: false, problems: want });
  });
});
