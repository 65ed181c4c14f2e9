import type { Read } from '../clusters/objects.ts';
import { type Facts, kubectl, ok, skipped, unknown, type Verdict, wrong } from './facts.ts';
import type { Via } from './via.ts';

/** Whether CoreDNS here answers the name with the address of the object. */
export function dnsHop({ corefile, here }: Facts, via: Read<Via | undefined>): Verdict {
  if (!via.known) return unknown(via.why);
  if (via.value === undefined) return skipped('there is nothing to resolve');
  const { dnsName: name } = via.value;
  if (!corefile.known) return unknown(`${name}: ${corefile.why}`);
  if (corefile.value === undefined)
    return unknown(`${name}: there is no ConfigMap kube-system/coredns: another DNS server may answer`);
  const edit = kubectl(here.cluster, '-n', 'kube-system', 'edit', 'configmap', 'coredns');
  const isImport = via.value.zone === 'import';
  if (isImport && /^\s*multicluster\s.*\bclusterset\.local\b/m.test(corefile.value))
    return ok(`${name} is answered by the plugin multicluster`);
  const fix = `${edit}  # ${isImport ? 'docs/mcs.md' : 'docs/service-mirror.md#names-in-coredns'}`;
  if (!via.value.hasRule) return wrong('CoreDNS has no server block for clusterset.local', fix);
  const want = `${via.value.name}.${via.value.namespace}.svc.`;
  const rewritten = rewrites(corefile.value, `${name}.`);
  if (rewritten === undefined) return wrong(`no rule of CoreDNS rewrites ${name}`, fix);
  if (!rewritten.startsWith(want)) return wrong(`CoreDNS rewrites ${name} to ${rewritten}, not to ${want}…`, fix);
  return ok(`${name} is rewritten to ${rewritten}`);
}

/** What the first rule of the plugin rewrite makes of a name; undefined: no rule is about it. */
function rewrites(corefile: string, name: string): string | undefined {
  for (const [, pattern = '', target = ''] of corefile.matchAll(/^[^#\n]*\bname\s+regex\s+(\S+)\s+(\S+)/gm)) {
    const groups = regExpOf(pattern)?.exec(name);
    if (groups) return target.replaceAll(/\{(\d)\}/g, (_, group: string) => groups[Number(group)] ?? '');
  }
  return undefined;
}

/** Undefined if JavaScript can't read what Go can. */
function regExpOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern);
  } catch {
    return undefined;
  }
}
