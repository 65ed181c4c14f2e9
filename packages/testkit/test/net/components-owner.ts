/** A process that runs CoreDNS and kube-proxy on a node, says which folders they have, and runs until it is ended. */
import { startComponents } from './start-components.ts';

const { coreDns, kubeProxy } = await startComponents();
process.send?.([coreDns.dir, kubeProxy.dir]);
