export { eventually } from '@kube-semaphore/testkit';
