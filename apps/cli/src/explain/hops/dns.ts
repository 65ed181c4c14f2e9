import { answerOf, COREDNS, faultOf, hasImports } from '../../corefile/faults.ts';
import { configMapOf, serversOf } from '../../dns/config.ts';
import type { Read } from '../../clusters/objects.ts';
import { type Facts, kubectl, ok, skipped, unknown, type HopResult, wrong } from '../facts.ts';
import type { Via } from '../via.ts';

/** Whether the DNS servers here answer the name with the address of the object. */
export function dnsHop({ dnsConfig, here }: Facts, via: Read<Via | undefined>): HopResult {
  if (!via.known) return unknown(via.why);
  if (via.value === undefined) return skipped('there is nothing to resolve');
  const { dnsName, zone, hasRule, name, namespace } = via.value;
  if (!dnsConfig.known) return unknown(`${dnsName}: ${dnsConfig.why}`);
  const found = serversOf(dnsConfig.value);
  if (!found.ok) return unknown(`${dnsName}: the Corefile can't be read: ${found.reason}`);
  const servers = found.value;
  if (servers.length === 0)
    return unknown(`${dnsName}: there is no ConfigMap kube-system/coredns: another DNS server may answer`);
  const answer = answerOf(servers, `${dnsName}.`);
  const isImport = zone === 'import';
  if (isImport && answer.by !== undefined && hasImports(answer.by))
    return ok(`${dnsName} is answered by the plugin multicluster`);
  const fixAt = (server: string): string => {
    const [namespace = '', name = ''] = configMapOf(dnsConfig.value, server).split('/');
    const page = server === COREDNS ? 'docs/service-mirror.md#names-in-coredns' : 'docs/dns.md';
    return `${kubectl(here.cluster, '-n', namespace, 'edit', 'configmap', name)}  # ${isImport ? 'docs/mcs.md' : page}`;
  };
  if (!hasRule) return wrong('CoreDNS has no server block for clusterset.local', fixAt(COREDNS));
  const fault = faultOf(servers, { name: `${dnsName}.`, wanted: `${name}.${namespace}.svc.`, namespace });
  if (fault?.severity === 'problem') return wrong(fault.sentence, fixAt(fault.server));
  return fault === undefined ? ok(`${dnsName} is rewritten to ${answer.name.slice(0, -1)}`) : unknown(fault.sentence);
}
