import { ConfigError } from '@kube-semaphore/runtime';
import { parseConfigFile } from '@kube-semaphore/multicluster';
import { Codec, DecodeError, parseJson, podKind } from '@kube-semaphore/kube-objects';
import { fuzz, type FuzzTarget, mutateBytes, mutateJson, pod } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { configFileSchema } from './config/file.ts';
import { membershipOf } from './sets/desired/member.ts';
import { settingsOfFile } from './config/settings.ts';

const pods = new Codec(podKind);
const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const nameLabel = 'semaphore.uw.systems/name';

const configFile = {
  local: { kubeConfigPath: '/k', cidrs: ['10.0.0.0/16', 'fd00::/48'] },
  remotes: [
    { name: 'c2', kubeConfigPath: '/c2', podResyncPeriod: '10m' },
    {
      name: 'c3',
      remoteAPIURL: 'https://c3',
      remoteCAURL: 'file:///ca',
      remoteCACertHash: ['sha256:aa'],
      remoteSATokenPath: '/t',
      allowedPodCIDRs: ['10.4.0.0/16'],
    },
  ],
};

const yaml = `# ours
local: { kubeConfigPath: /k }
remotes:
- &one
  name: c2
  kubeConfigPath: "/c2"
- name: c3
  kubeConfigPath: /c3
  podResyncPeriod: 1h
`;

function readConfig(source: string): unknown {
  const file = parseConfigFile(source, configFileSchema, { unknownKeys: 'error' });
  const unset = { localKubeConfig: undefined, localCidrs: undefined, localClusterName: undefined };
  const options = { ...unset, podResyncPeriodMs: 0, networkPolicies: false };
  const settings = file.ok ? settingsOfFile(file.value, options) : file;
  return settings.ok ? settings : new ConfigError(settings.problems);
}

const configFiles = { run: (bytes: Buffer) => readConfig(bytes.toString()), isExpected: () => false };

const targets: readonly (FuzzTarget & { readonly name: string })[] = [
  {
    name: 'a Pod',
    seeds: [
      pod({ name: 'a', labels: { [nameLabel]: 'web' }, ips: ['10.0.0.1', 'fd00::1'] }),
      pod({ name: 'b', labels: { [nameLabel]: 'web' }, hostNetwork: true }),
    ].map(json),
    mutate: mutateJson,
    run: (bytes) =>
      membershipOf(pods.objectFromJson(parseJson(bytes)), {
        nameLabel,
        addresses: { allowed: undefined, local: [] },
        intern: (text) => text,
      }),
    isExpected: (error) => error instanceof DecodeError,
  },
  { ...configFiles, name: 'a config file in JSON', seeds: [json(configFile)], mutate: mutateJson },
  { ...configFiles, name: 'a config file in YAML', seeds: [Buffer.from(yaml)], mutate: mutateBytes },
];

it.each(targets)('$name is read or refused, in linear time and a bounded heap', async (target) => {
  expect(await fuzz(target)).toMatchObject({ runs: expect.any(Number) });
});
