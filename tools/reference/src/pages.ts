import { metrics as policyMetrics } from '@kube-semaphore/policy/metrics';
import { options as policyOptions, program as policy } from '@kube-semaphore/policy/options';
import { metrics as mirrorMetrics } from '@kube-semaphore/service-mirror/metrics';
import { options as mirrorOptions, program as mirror } from '@kube-semaphore/service-mirror/options';
import { metrics as wireguardMetrics } from '@kube-semaphore/wireguard/metrics';
import { options as wireguardOptions, program as wireguard } from '@kube-semaphore/wireguard/options';
import { referencePage } from './page.ts';

/** Every page below docs/reference, by file name. */
export const pages: Readonly<Record<string, string>> = {
  'policy.md': referencePage({ app: 'policy', program: policy, options: policyOptions, metrics: policyMetrics }),
  'service-mirror.md': referencePage({ app: 'service-mirror', program: mirror, options: mirrorOptions, metrics: mirrorMetrics }),
  'wireguard.md': referencePage({ app: 'wireguard', program: wireguard, options: wireguardOptions, metrics: wireguardMetrics }),
};
