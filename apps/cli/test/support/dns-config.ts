import type { DnsConfig } from '../../src/dns/config.ts';

/** That of a cluster with CoreDNS. */
export const dnsConfig = (corefile: string | undefined, change: Partial<DnsConfig> = {}): DnsConfig => ({
  corefile: corefile === undefined ? undefined : { text: corefile, changedMs: 0, writer: 'semaphore-link' },
  custom: undefined,
  nodeCache: undefined,
  hasKubeDns: false,
  stubDomains: undefined,
  openShift: undefined,
  own: undefined,
  clusterAddresses: ['10.96.0.10'],
  ownAddresses: [],
  versions: new Map(),
  ...change,
});
