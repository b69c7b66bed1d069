import Foundation
import Testing

/// A member of a multicast group that uses no library of this project: Python's socket module.
enum PythonMember {
    static let path = Peer.find("python3")

    /// A Python program with four commands:
    ///
    /// - `speak GROUP PORT SOURCE TEXT...`: sends each text to the group from the address SOURCE, and prints the
    ///   answers that arrive within one second.
    /// - `tell HOST PORT SOURCE TEXT...`: does the same, but sends to a single host.
    /// - `ask GROUP PORT SOURCE TEXT...`: does the same as `speak`, but first waits for as many answers as texts.
    /// - `hear GROUP PORT INTERFACE`: joins the group, prints each message with its hop limit, and answers it.
    static let script = """
        import socket, struct, sys

        verb, place, port, where = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
        isV6 = ":" in place
        family, level = (socket.AF_INET6, socket.IPPROTO_IPV6) if isV6 else (socket.AF_INET, socket.IPPROTO_IP)
        link = socket.if_nametoindex("\(TwoHosts.link)")
        s = socket.socket(family, socket.SOCK_DGRAM)
        if verb == "hear":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("", port))
            packed = socket.inet_pton(family, place)
            if isV6:
                s.setsockopt(level, socket.IPV6_JOIN_GROUP, packed + struct.pack("@I", link))
                s.setsockopt(level, socket.IPV6_RECVHOPLIMIT, 1)
            else:
                s.setsockopt(level, socket.IP_ADD_MEMBERSHIP, packed + struct.pack("@4si", b"", link))
                s.setsockopt(level, 12, 1)  # IP_RECVTTL
            print("joined", flush=True)
            while True:
                data, control, _, sender = s.recvmsg(65536, 512)
                hops = struct.unpack("@i", control[0][2][:4])[0]
                print(f"{data.decode()} after {hops}", flush=True)
                s.sendto(b"heard " + data, sender)
        s.bind((where, 0))
        s.setsockopt(level, socket.IPV6_MULTICAST_IF if isV6 else socket.IP_MULTICAST_IF,
            struct.pack("@I", link) if isV6 else struct.pack("@4s4si", b"", b"", link))
        for text in sys.argv[5:]:
            s.sendto(text.encode(), (place, port))
        def take():
            data, sender = s.recvfrom(65536)
            print(f"{sender[0]} {sender[1]} {data.decode()}", flush=True)
        if verb == "ask":
            for text in sys.argv[5:]: take()
        s.settimeout(1)
        try:
            while True: take()
        except socket.timeout:
            pass
        """
}

extension Scratch {
    func startMember(_ arguments: [String], on host: String) throws -> Child {
        let python = try #require(PythonMember.path, "python3 is not installed")
        let file = directory.appendingPathComponent("member.py")
        try Data(PythonMember.script.utf8).write(to: file)
        return try start(python, [file.path] + arguments, on: host)
    }
}
