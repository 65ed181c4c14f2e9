import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { createAuthority } from './certificates.ts';

const authority = await createAuthority();
const ca = new X509Certificate(authority.caPem);

it('makes an authority that signs itself', () => {
  expect(ca.ca).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
});

it('issues a server certificate for names and addresses of both families', async () => {
  const { certPem, keyPem } = await authority.issue({
    usage: 'server',
    commonName: 'c1',
    dnsNames: ['localhost'],
    ips: ['127.0.0.1', '::1', 'fd00:1::ff:2'],
  });
  const certificate = new X509Certificate(certPem);
  expect(certificate.verify(ca.publicKey) && certificate.checkIssued(ca)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
  expect(certificate.ca).toBe(false);
  expect(certificate.checkHost('localhost')).toBe('localhost');
  for (const ip of ['127.0.0.1', '::1', 'fd00:1::ff:2']) expect(certificate.checkIP(ip)).toBe(ip);
  expect(certificate.checkIP('127.0.0.2')).toBeUndefined();
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
});

it('issues a client certificate whose common name is the user and whose organizations are the groups', async () => {
  const { certPem } = await authority.issue({ usage: 'client', commonName: 'zoë', organizations: ['ops', 'dev'] });
  const { subject } = new X509Certificate(certPem).toLegacyObject();
  expect(subject).toEqual(expect.objectContaining({ CN: 'zoë', O: ['ops', 'dev'] }));
});

it.each(['a "b"', String.raw`c\,d+E=f`, '#01'])('keeps the user name %j unchanged', async (name) => {
  const { certPem } = await authority.issue({ usage: 'client', commonName: name });
  expect(new X509Certificate(certPem).toLegacyObject().subject.CN).toBe(name);
});

it('gives each certificate a unique positive serial number', async () => {
  const issued = Array.from({ length: 64 }, async () => {
    const { certPem } = await authority.issue({ usage: 'client', commonName: 'x' });
    return new X509Certificate(certPem).serialNumber;
  });
  const serials = await Promise.all(issued);
  expect(new Set(serials).size).toBe(serials.length);
  expect(serials.filter((serial) => serial.startsWith('-'))).toEqual([]);
});

it('serves a mutual TLS handshake', async () => {
  const server = await authority.issue({ usage: 'server', commonName: 'c1', ips: ['127.0.0.1'] });
  const client = await authority.issue({ usage: 'client', commonName: 'ada' });
  const listener = createServer({
    key: server.keyPem,
    cert: server.certPem,
    ca: authority.caPem,
    requestCert: true,
    rejectUnauthorized: true,
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const accepted = once(listener, 'secureConnection') as Promise<[TLSSocket]>;
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', ca: authority.caPem, key: client.keyPem, cert: client.certPem });
  const [peer] = await accepted;
  expect(peer.getPeerCertificate().subject.CN).toBe('ada');
  socket.destroy();
  listener.close();
  await once(listener, 'close');
});
