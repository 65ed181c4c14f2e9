import { metrics } from '@kube-semaphore/policy/metrics';
import { options, program } from '@kube-semaphore/policy/options';
import { referencePage } from './page.ts';

/** Every page below docs/reference, by file name. */
export const pages: Readonly<Record<string, string>> = {
  'policy.md': referencePage({ app: 'policy', program, options, metrics }),
};
