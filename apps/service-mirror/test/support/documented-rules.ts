import { parseConfigFile } from '@kube-semaphore/app';
import { docBlocks, type PolicyRule } from '@kube-semaphore/testkit';
import * as z from 'zod/mini';

const role = z.object({ rules: z.array(z.object({ apiGroups: z.array(z.string()), resources: z.array(z.string()), verbs: z.array(z.string()) })) });

const [remote, mirrors, globals] = docBlocks('service-mirror.md', 'Rights', 'yaml').map(rulesIn);

/** The rights that the page asks for, so that every test shows that they are enough: of the remote cluster, in the mirror namespace, and in all. */
export const documentedRules = { remote: remote!, mirrors: mirrors!, globals: globals! } as const;

function rulesIn(block: string): readonly PolicyRule[] {
  const parsed = parseConfigFile(block, role, { unknownKeys: 'error' });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.value.rules;
}
