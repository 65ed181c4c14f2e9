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

/** Of NodeLocal DNSCache, with the addresses that its installation fills in. */
export const nodeLocal = `cluster.local:53 {
    errors
    cache {
            success 9984 30
            denial 9984 5
    }
    reload
    loop
    bind 169.254.20.10 10.96.0.10
    forward . __PILLAR__CLUSTER__DNS__ {
            force_tcp
    }
    prometheus :9253
    health 169.254.20.10:8080
    }
in-addr.arpa:53 {
    errors
    cache 30
    reload
    loop
    bind 169.254.20.10 10.96.0.10
    forward . __PILLAR__CLUSTER__DNS__ {
            force_tcp
    }
    prometheus :9253
    }
.:53 {
    errors
    cache 30
    reload
    loop
    bind 169.254.20.10 10.96.0.10
    forward . __PILLAR__UPSTREAM__SERVERS__
    prometheus :9253
    }
`;

/** Of platforms that put it back, and leave the files alone that it imports; as soon as one changes, CoreDNS notices it. */
const importing = (folder: string): string => `.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
      pods insecure
      fallthrough in-addr.arpa ip6.arpa
    }
    prometheus :9153
    forward . /etc/resolv.conf
    cache 30
    loop
    reload 2s
    loadbalance
    import ${folder}/*.override
}
import ${folder}/*.server
`;

export const k3s = importing('/etc/coredns/custom');
export const aks = importing('custom');

/** Of OpenShift's DNS operator, without and with a server of its \`spec.servers\`. */
export const openShift = (zones = '', upstreams: readonly string[] = [], port = 5353): string => `${
  zones === ''
    ? ''
    : `# semaphore
${zones} {
    prometheus 127.0.0.1:9153
    forward . ${upstreams.join(' ')} {
        policy random
    }
    errors
    log . {
        class error
    }
    bufsize 1232
    cache 900 {
        denial 9984 30
    }
}
`
}.:${port} {
    bufsize 1232
    errors
    log . {
        class error
    }
    health {
        lameduck 20s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
    }
    prometheus 127.0.0.1:9153
    forward . /etc/resolv.conf {
        policy sequential
    }
    cache 900 {
        denial 9984 30
    }
    reload
}
hostname.bind:${port} {
    chaos
}
`;
