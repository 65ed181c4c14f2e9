import { parseCorefile } from '../corefile/parse.ts';
import { routeOf } from '../corefile/resolve.ts';
import { faultOf, hasImports } from '../corefile/verdict.ts';
import type { Read } from '../clusters/objects.ts';
import { type Facts, kubectl, ok, skipped, unknown, type Verdict, wrong } from './facts.ts';
import type { Via } from './via.ts';

/** Whether CoreDNS here answers the name with the address of the object. */
export function dnsHop({ corefile, here }: Facts, via: Read<Via | undefined>): Verdict {
  if (!via.known) return unknown(via.why);
  if (via.value === undefined) return skipped('there is nothing to resolve');
  const { dnsName, zone, hasRule, name, namespace } = via.value;
  if (!corefile.known) return unknown(`${dnsName}: ${corefile.why}`);
  if (corefile.value === undefined)
    return unknown(`${dnsName}: there is no ConfigMap kube-system/coredns: another DNS server may answer`);
  const parsed = parseCorefile(corefile.value);
  if (!parsed.ok) return unknown(`${dnsName}: the Corefile can't be read: ${parsed.reason}`);
  const route = routeOf(parsed.value, `${dnsName}.`);
  const isImport = zone === 'import';
  if (isImport && route.by !== undefined && hasImports(route.by))
    return ok(`${dnsName} is answered by the plugin multicluster`);
  const edit = kubectl(here.cluster, '-n', 'kube-system', 'edit', 'configmap', 'coredns');
  const fix = `${edit}  # ${isImport ? 'docs/mcs.md' : 'docs/service-mirror.md#names-in-coredns'}`;
  if (!hasRule) return wrong('CoreDNS has no server block for clusterset.local', fix);
  const fault = faultOf(parsed.value, { name: `${dnsName}.`, wanted: `${name}.${namespace}.svc.`, namespace });
  if (fault?.severity === 'problem') return wrong(fault.sentence, fix);
  return fault === undefined ? ok(`${dnsName} is rewritten to ${route.name.slice(0, -1)}`) : unknown(fault.sentence);
}
