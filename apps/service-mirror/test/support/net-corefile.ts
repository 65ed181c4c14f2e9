import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../../../../docs/service-mirror.md', import.meta.url));

/** The Corefile that the page of the app shows: the only fenced block with the plugin `kubernetes`. */
export function documentedCorefile(): string {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```.*\n([^]*?)^```$/gm);
  const [corefile, ...others] = Array.from(blocks, ([, block = '']) => block).filter((block) =>
    /^ +kubernetes /m.test(block),
  );
  if (corefile === undefined || others.length > 0)
    throw new Error(`${page} shows ${others.length > 0 ? 'several Corefiles' : 'no Corefile'}`);
  return corefile;
}

/**
 * What people have deployed for the Go program, whose page shows it, without the option `upstream`, which CoreDNS no
 * longer knows. It resolves addresses; of `_http._tcp` it loses `_http`.
 */
export const deployedCorefile = `
cluster.c2 {
    errors
    health
    rewrite continue {
      name regex ([a-zA-Z0-9-_]*\\.)?([a-zA-Z0-9-_]*)\\.([a-zv0-9-_]*)\\.svc\\.cluster\\.c2 {1}c2-{3}-73736d-{2}.sys-semaphore.svc.cluster.local
      answer name ([a-zA-Z0-9-_]*\\.)?c2-([a-zA-Z0-9-_]*)-73736d-([a-zA-Z0-9-_]*)\\.sys-semaphore\\.svc\\.cluster\\.local {1}{3}.{2}.svc.cluster.c2
    }
    kubernetes cluster.local in-addr.arpa ip6.arpa {
      pods insecure
      endpoint_pod_names
      fallthrough in-addr.arpa ip6.arpa
    }
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
.:53 {
    errors
    health
    kubernetes cluster.local in-addr.arpa ip6.arpa {
      pods insecure
      endpoint_pod_names
      fallthrough in-addr.arpa ip6.arpa
    }

    prometheus :9153
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
`;
