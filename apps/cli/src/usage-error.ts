/** The command line or the kubeconfig is wrong. The message is one sentence, which says what to do. */
export class UsageError extends Error {}
