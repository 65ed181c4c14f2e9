import { hostCidr } from '@kube-semaphore/net';
import { parseYaml } from '@kube-semaphore/text';
import { parse, stringify } from 'yaml';
import type { Choices } from '../choices.ts';
import { type App, entriesIn, rest } from './config-files.ts';
import { corefileIn, DNS_FILE } from './dns-file.ts';
import type { Cluster } from '../findings/findings.ts';
import type { Files } from './folder.ts';
import type { Parts } from './kustomize.ts';

/** The file of an overlay with values of the chart deploy/charts/kube-semaphore, which makes the same objects. */
export const VALUES_FILE = 'values.yaml';

type Values = Readonly<Record<string, unknown>>;

/** @param files the others of the overlay @param withKinds it has the kinds of Multi-Cluster Services */
export function helmValues(
  files: Files,
  {
    cluster: { name, minor, apiServerIps },
    choices: { registry, boundTokens, networkPolicies = false, userspace = false, mcs = false },
    parts: { apps, resources, components },
    withKinds,
  }: {
    readonly cluster: Cluster;
    readonly choices: Choices;
    readonly parts: Parts;
    readonly withKinds: boolean;
  },
): string {
  const remoteAccount = { enabled: true, token: typeof boundTokens !== 'number' };
  const admissionPolicies = minor >= 30;
  const prometheus = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
  const apiServers = apiServerIps.map((ip) => ({ ipBlock: { cidr: hostCidr(ip) } }));
  const metrics = { networkPolicy: { enabled: true, from: [prometheus, ...apiServers] } };
  const has = (folder: string): boolean => [...resources, ...components].includes(folder);
  const values = {
    ...(typeof registry === 'string' && { global: { imageRegistry: registry } }),
    'semaphore-policy': {
      app: { enabled: apps.includes('policy') },
      remoteAccount: { ...remoteAccount, namespaces: networkPolicies },
      admissionPolicies,
      networkPolicies: { enabled: networkPolicies },
      metrics,
    },
    'semaphore-service-mirror': {
      remoteAccount,
      admissionPolicies,
      globalServices: true,
      mcs: { enabled: mcs, crds: withKinds },
      dns: { enabled: has('dns/base') },
      metrics,
    },
    'semaphore-wireguard': {
      enabled: apps.includes('wireguard'),
      remoteAccount: { ...remoteAccount, calicoBlocks: has('wireguard/components/calico-blocks') },
      admissionPolicies,
      userspace,
    },
  };
  const comment = `# Written by "semaphore link" for the cluster ${name}. To change more, give helm a further file of values.`;
  return `${comment}\n${textOf(values, files)}`;
}

/** The values after a change of the other files. */
export function valuesAfter(text: string, files: Files): string {
  const comment = /^(?:#.*\n)*/.exec(text)![0];
  return comment + textOf(parse(text) as Values, files);
}

/** @returns the values, with what the other files have */
function textOf(values: Values, files: Files): string {
  const dns = files.get(DNS_FILE);
  const all: Values = {
    ...values,
    ...configOf('policy', values, files),
    ...configOf(
      'service-mirror',
      values,
      files,
      dns === undefined ? {} : { dns: { enabled: true, corefile: corefileIn(dns) } },
    ),
    ...configOf('wireguard', values, files),
    extraObjects: poolsIn(files.get('ip-pools.yaml') ?? ''),
  };
  // Helm reads YAML 1.1.
  return stringify(all, { compat: 'yaml-1.1', lineWidth: 0 });
}

function configOf(app: App, values: Values, files: Files, more: Values = {}): Values {
  const chart = `semaphore-${app}`;
  if (!files.has(`${app}.json`)) return {};
  const own = values[chart] as Values;
  return { [chart]: { ...own, config: rest(files, app), remotes: entriesIn(files, app), ...more } };
}

const poolsIn = (text: string): readonly unknown[] =>
  text
    .split('---\n')
    .filter((pool) => pool !== '')
    .map((pool) => {
      const parsed = parseYaml(pool);
      return parsed.ok ? parsed.value : undefined;
    });
