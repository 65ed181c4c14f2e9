export { dnsManifests, writeDnsImage } from './cluster-dns.ts';
export { writeImage } from './image-archive.ts';
export { NodeCluster, type NodeClusterOptions } from './node-cluster.ts';
export { type KubeletTimes, PAUSE_IMAGE } from './node-files.ts';
export { RealNode } from './real-node.ts';
