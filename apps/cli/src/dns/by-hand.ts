import { faultOf, sampleOf } from '../corefile/faults.ts';
import { namesToSend, type Wanted } from '../corefile/rules.ts';
import { type DnsConfig, dnsKindOf, serversOf } from './config.ts';
import { sentZones } from './edits.ts';

/** What is left to do so that a DNS server that we don't change sends our zones to our own one; undefined: nothing. */
export function byHand(config: DnsConfig, wanted: Wanted): string | undefined {
  const kind = dnsKindOf(config);
  if (kind === 'CoreDNS' || kind === 'kube-dns') return undefined;
  const servers = serversOf(config);
  const names = namesToSend(wanted);
  const isDone =
    servers.ok &&
    servers.value.length > 0 &&
    names.every((each) => faultOf(servers.value, sampleOf(each)) === undefined);
  if (isDone) return undefined;
  const zones = sentZones(wanted);
  const upstreams = config.ownAddresses.length > 0 ? config.ownAddresses : ['ADDRESS'];
  const where =
    config.ownAddresses.length > 0 ? '' : ', where ADDRESS is that of the Service sys-semaphore/semaphore-dns';
  return kind === 'OpenShift'
    ? `add to spec.servers of dns.operator/default: ${JSON.stringify({ name: 'semaphore', zones, forwardPlugin: { upstreams } })}${where}`
    : `let the DNS server of the cluster send ${zones.join(', ')} to ${upstreams.join(' or ')}${where}: docs/dns.md`;
}
