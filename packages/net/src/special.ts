/** Loopback, link-local, and multicast on the link, by how their canonical text begins. */
const SPECIAL_4 = ['127.', '169.254.', '224.0.0.'] as const;
const SPECIAL_6 = /^(?:fe[89ab][0-9a-f]|ff0[12]):/;

/**
 * Whether an address means something on one host or link only. The API server refuses such endpoints
 * (ValidateNonSpecialIP in pkg/apis/core/validation). Goes by the text, as it is asked of every endpoint of every slice.
 *
 * @param ip canonical
 */
export function isSpecialIp(ip: string): boolean {
  if (ip.includes(':')) return ip === '::' || ip === '::1' || SPECIAL_6.test(ip);
  return ip === '0.0.0.0' || SPECIAL_4.some((beginning) => ip.startsWith(beginning));
}

/** Whether the host of a URL is this machine: `localhost`, 127.0.0.0/8 or ::1. @param host in lower case, an address canonical */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host);
