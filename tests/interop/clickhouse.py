"""Two servers of ClickHouse on loopback with a cluster `fleet` of both, for tests; of the package clickhouse-server of Debian 12
(18.16), or of another version, whose `clickhouse server` is in $PERFILE_CLICKHOUSE."""
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

CONFIG = """<yandex>
    <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
    <listen_host>127.0.0.1</listen_host>
    <http_port>{http}</http_port>
    <tcp_port>{tcp}</tcp_port>
    <path>{folder}/data/</path>
    <tmp_path>{folder}/tmp/</tmp_path>
    <user_files_path>{folder}/files/</user_files_path>
    <users_config>{folder}/users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <mark_cache_size>67108864</mark_cache_size>
    <timezone>UTC</timezone>
    <remote_servers><fleet>{shards}</fleet></remote_servers>
</yandex>
"""
SHARD = "<shard><replica><host>127.0.0.1</host><port>%d</port></replica></shard>"
USERS = """<yandex>
    <profiles><default><max_threads>2</max_threads><max_memory_usage>1000000000</max_memory_usage></default></profiles>
    <quotas><default></default></quotas>
    <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
</yandex>
"""


def program():
    """The command that is a server, or None."""
    other = os.environ.get("PERFILE_CLICKHOUSE")
    if other:
        return [other, "server"]
    found = shutil.which("clickhouse-server") or shutil.which("/usr/sbin/clickhouse-server")
    return [found] if found else None


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Server:
    def __init__(self, command, folder, http, tcp, shards):
        self.http = http
        for name in ("data", "tmp", "files"):
            os.makedirs(os.path.join(folder, name))
        with open(os.path.join(folder, "config.xml"), "w") as f:
            f.write(CONFIG.format(folder=folder, http=http, tcp=tcp, shards=shards))
        with open(os.path.join(folder, "users.xml"), "w") as f:
            f.write(USERS)
        self.said = open(os.path.join(folder, "said"), "wb")
        self.process = subprocess.Popen([*command, "--config-file=" + os.path.join(folder, "config.xml")], cwd=folder,
                                        stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said)

    def query(self, text, data=None):
        """The answer as text, TSV; `data` are rows that INSERT … FORMAT … takes."""
        url = "http://127.0.0.1:%d/?query=%s" % (self.http, urllib.parse.quote(text)) if data is not None else \
            "http://127.0.0.1:%d/" % self.http
        try:
            with urllib.request.urlopen(url, data if data is not None else text.encode(), timeout=120) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as e:
            raise RuntimeError(e.read().decode()[:2000] + "\n" + text) from None

    def wait(self):
        for _ in range(600):
            try:
                return self.query("SELECT 1") == "1\n"
            except (OSError, RuntimeError):
                if self.process.poll() is not None:
                    return False
                time.sleep(0.1)
        return False

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.said.close()


class Fleet:
    """with Fleet(folder) as (first, second): …"""

    def __init__(self, folder, n=2):
        ports = free_ports(2 * n)
        shards = "".join(SHARD % port for port in ports[n:])
        self.servers = []
        for i in range(n):
            self.servers.append(Server(program(), os.path.join(os.path.abspath(folder), str(i)), ports[i], ports[n + i], shards))

    def __enter__(self):
        for s in self.servers:
            if not s.wait():
                self.__exit__()
                raise RuntimeError("no server: " + open(s.said.name, errors="replace").read()[-2000:])
        return self.servers

    def __exit__(self, *_):
        for s in self.servers:
            s.close()
