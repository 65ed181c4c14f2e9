export { prepareCalico } from './calico.ts';
export { dnsImage, dnsManifests, spreadOverNodes } from './cluster-dns.ts';
export { builtImage, fileImage, type ImageSource, podmanImage } from './image-source.ts';
export { NodeCluster, type NodeClusterOptions } from './node-cluster.ts';
export { calicoLink, type PolicyEngine, policyEngines } from './policy-engines.ts';
export type { RealNode } from './real-node.ts';
