// TCP proxy between one host and the servers of the database. It can be cut, as a network is.

import net from 'node:net';

export class Proxy {
  /** One listener per target port, in their order. */
  static async open(targets) {
    const proxy = new Proxy();
    proxy.sockets = new Set();
    proxy.cut = null;
    proxy.servers = await Promise.all(
      targets.map(async (target) => {
        const server = net.createServer({ pauseOnConnect: true }, (client) => proxy.#connect(client, target()));
        await new Promise((done) => server.listen(0, '127.0.0.1', done));
        return server;
      }),
    );
    proxy.ports = proxy.servers.map((server) => server.address().port);
    return proxy;
  }

  #connect(client, port) {
    if (this.cut === 'reset') {
      client.resetAndDestroy();
      return;
    }
    const server = net.connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ]) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.on('data', (bytes) => {
        if (!other.write(bytes)) {
          socket.pause();
          other.once('drain', () => this.cut === null && socket.resume());
        }
      });
      if (this.cut === 'stall') socket.pause();
      else socket.resume();
    }
  }

  /** Nothing gets through. What was sent meanwhile arrives when the network is back, as with TCP. */
  stall() {
    this.cut = 'stall';
    this.sockets.forEach((socket) => socket.pause());
  }

  /** All connections are reset, and new ones too. */
  reset() {
    this.cut = 'reset';
    this.sockets.forEach((socket) => socket.resetAndDestroy());
  }

  heal() {
    this.cut = null;
    this.sockets.forEach((socket) => socket.resume());
  }

  close() {
    this.servers.forEach((server) => server.close());
    this.sockets.forEach((socket) => socket.destroy());
  }
}
