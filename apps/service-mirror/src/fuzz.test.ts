import { isIP } from 'node:net';
import { ConfigError } from '@kube-semaphore/runtime';
import { Codec, DecodeError, endpointSliceKind, parseJson, serviceKind } from '@kube-semaphore/kube-objects';
import { endpointSlice, fuzz, type FuzzTarget, mutateBytes, mutateJson, service } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { parseMirrorFile } from './config/file.ts';
import { settingsOfFile } from './config/file-settings.ts';
import { addressesOf } from './endpoints/desired/compact.ts';
import { readService } from './endpoints/remote/read-service.ts';
import { readSlice } from './endpoints/remote/read-slice.ts';

const services = new Codec(serviceKind);
const slices = new Codec(endpointSliceKind);
const isExpected = (error: unknown): boolean => error instanceof DecodeError;
const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

const options = {
  kubeConfig: undefined,
  localCidrs: undefined,
  mirrorNs: undefined,
  labelSelector: undefined,
  mirrorSvcLabelSelector: undefined,
  globalSvcLabelSelector: undefined,
  globalSvcRoutingStrategyLabel: undefined,
};

const configFile = {
  global: {
    globalSvcLabelSelector: 'a=b',
    mirrorSvcLabelSelector: 'c in (d, e)',
    mirrorNamespace: 'sys',
    serviceSync: true,
    globalSvcHints: 'labelled',
  },
  localCluster: { name: 'c1', zones: ['a'], cidrs: ['10.0.0.0/16'], kubeConfigPath: '/k' },
  remoteClusters: [
    {
      name: 'c2',
      remoteAPIURL: 'https://c2',
      remoteCAURL: 'file:///ca',
      remoteSATokenPath: '/t',
      resyncPeriod: '1h',
      servicePrefix: 'c2',
      allowedPodCIDRs: ['10.4.0.0/16'],
    },
  ],
};

const yaml = `# ours
global: &g
  mirrorNamespace: sys
  mirrorSvcLabelSelector: "a=b"
remoteClusters:
- name: c2
  servicePrefix: c2
  kubeConfigPath: /c2
`;

function readConfig(source: string): unknown {
  const file = parseMirrorFile(source);
  const settings = file.ok ? settingsOfFile(file.value, { options, isPod: true, canRead: () => true }) : file;
  return settings.ok ? [settings, file] : new ConfigError(settings.problems);
}

const configFiles = { run: (bytes: Buffer) => readConfig(bytes.toString()), isExpected: () => false };

/** Nothing may pass that the API server would refuse, or that kube-proxy would fail at. */
function expectLegalPorts(
  ports: readonly {
    readonly name: string;
    readonly port: number | undefined;
    readonly targetPort?: number | string | undefined;
  }[],
): void {
  const isPort = (port: unknown): boolean => Number.isInteger(port) && 1 <= Number(port) && Number(port) <= 65_535;
  for (const { name, port = 1, targetPort = 1 } of ports) {
    if (!isPort(port) || (typeof targetPort === 'number' && !isPort(targetPort)))
      throw new Error(`port ${port} with target ${targetPort}`);
    if (!/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$/.test(name)) throw new Error(`a port has the name ${name}`);
  }
}

function legal(reading: ReturnType<typeof readSlice>): ReturnType<typeof readSlice> {
  expectLegalPorts(reading.value?.ports ?? []);
  const addresses = reading.value?.endpoints.flatMap(addressesOf) ?? [];
  for (const address of addresses)
    if (isIP(address) !== (reading.value?.family === 'IPv6' ? 6 : 4)) throw new Error(`the address ${address}`);
  return reading;
}

const targets: readonly (FuzzTarget & { readonly name: string })[] = [
  {
    name: 'a Service',
    seeds: [
      service({ name: 'web' }),
      service({ name: 'db', headless: true, spec: { ipFamilies: ['IPv4', 'IPv6'], sessionAffinity: 'ClientIP' } }),
    ].map(json),
    mutate: mutateJson,
    run: (bytes) => {
      const reading = readService(services.objectFromJson(parseJson(bytes)), { isLocalFirst: () => false });
      expectLegalPorts(reading.value?.definition.ports ?? []);
      return reading;
    },
    isExpected,
  },
  {
    name: 'an EndpointSlice',
    seeds: [
      endpointSlice({ name: 'web-1', service: 'web', endpoints: ['10.0.0.1', '10.0.0.2'] }),
      endpointSlice({ name: 'web-2', service: 'web', endpoints: ['fd00::1'] }),
    ].map(json),
    mutate: mutateJson,
    run: (bytes) =>
      legal(
        readSlice(slices.objectFromJson(parseJson(bytes)), {
          addresses: { allowed: undefined, local: [] },
          isLocal: false,
        }),
      ),
    isExpected,
  },
  { ...configFiles, name: 'a config file in JSON', seeds: [json(configFile)], mutate: mutateJson },
  { ...configFiles, name: 'a config file in YAML', seeds: [Buffer.from(yaml)], mutate: mutateBytes },
];

it.each(targets)('$name is read or refused, in linear time and a bounded heap', async (target) => {
  expect(await fuzz(target)).toMatchObject({ runs: expect.any(Number) });
});
