import { docBlocks } from '@kube-semaphore/testkit';

/** The Corefile of docs/service-mirror.md. */
export const documented = docBlocks('service-mirror.md', 'Names in CoreDNS', '')[0] ?? '';

/** The rules in it. */
export const ruleLines = /^ {4}rewrite (?:(?:continue|stop) name .*|stop \{\n[^]*?^ {4}\})\n/gm;

const options = `{
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
    }`;

/** As installers and administrators write them. */
export const corefiles = {
  kubeadm: `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
`,
  'a zone in each server block': `cluster.local:53 in-addr.arpa:53 {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa ${options}
    cache 30
}
.:53 {
    errors
    ready
    forward . /etc/resolv.conf
    cache 30
}
`,
  'no root zone': `cluster.local:53 {
    errors
    ready
    kubernetes cluster.local ${options}
}
`,
  snippets: `(common) {
    errors
    ready # each of them
}
(cluster) {
    kubernetes cluster.local in-addr.arpa ip6.arpa ${options}
}
cluster.local {
    import common
    import cluster
}
dns://. tls://.:8853 {
    errors
    import cluster
    forward . /etc/resolv.conf
}
`,
  'a block for the remote, too': `cluster.c2 {
    errors
    kubernetes cluster.local
}
. {
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa ${options}
    forward . /etc/resolv.conf
}
`,
} as const;
