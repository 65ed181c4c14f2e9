import { parseYaml } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { corefileWithout, ownCorefile } from '../../corefile/edit.ts';
import type { Left, Wanted } from '../../corefile/rules.ts';

/** The file of an overlay with the Corefile of our own CoreDNS. */
export const DNS_FILE = 'dns.yaml';

/** Its text. @param domain of the cluster, with the dot at its end */
export const dnsFile = (wanted: Wanted, domain?: string): string => fileOf(ownCorefile(wanted, domain));

const configMap = z.object({ data: z.object({ Corefile: z.string() }) });

/** The Corefile in its text. @throws {Error} if it is no ConfigMap with a Corefile */
export function corefileIn(text: string): string {
  const parsed = parseYaml(text);
  return configMap.parse(parsed.ok ? parsed.value : undefined).data.Corefile;
}

/** Its text without names of some clusters. @throws {Error} if it is no ConfigMap with a Corefile */
export function dnsFileWithout(text: string, left: Left): string {
  const without = corefileWithout(corefileIn(text), left);
  if (!without.ok) throw new Error(`${DNS_FILE}: ${without.reason}`);
  return fileOf(without.value);
}

const fileOf = (corefile: string): string => `apiVersion: v1
kind: ConfigMap
metadata:
  name: semaphore-dns
  namespace: sys-semaphore
data:
  Corefile: |
${corefile.replaceAll(/^(?=.)/gm, '    ')}`;
