import CausewaySystem
import FoundationEssentials

/// Which processes have a UDP port, as /proc tells. Only processes of the same user can be looked into; root sees all.
enum PortHolders {
    struct Holder: Hashable, Encodable {
        /// `nil` where the process is another user's.
        var process: Int?
        var command: String?
        var user: Int
    }

    static func udp(_ port: UInt16) -> [Holder] {
        let sockets = inodes("/proc/net/udp", port) + inodes("/proc/net/udp6", port)
        let owners = sockets.isEmpty ? [:] : socketOwners()
        var holders: [Holder] = []
        for (inode, user) in sockets {
            let process = owners[inode]
            let holder = Holder(process: process, command: process.flatMap { command(of: $0) }, user: user)
            if !holders.contains(holder) { holders.append(holder) }
        }
        return holders
    }

    /// Whether somebody has a UDP port for himself, so that it cannot even be shared.
    static func isTaken(_ port: UInt16) -> Bool {
        guard let socket = try? Socket.open(.ipv4, .datagram) else { return false }
        try? Socket.set(.reuseAddress, to: 1, on: socket.rawValue)
        try? Socket.set(.reusePort, to: 1, on: socket.rawValue)
        return (try? Socket.bind(socket.rawValue, to: .ipv4(bits: 0, port: port))) == nil
    }

    /// Names of the programs that run in this network namespace: those in others have interfaces and ports of their own.
    static func runningCommands() -> Set<String> {
        let own = namespace(of: "self")
        // Only root can inspect other users' processes: an unknown one counts as local.
        let here = processes().filter { process in
            namespace(of: "\(process)").map { $0 == own } ?? true
        }
        return Set(here.compactMap { command(of: $0) })
    }

    private static func namespace(of process: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/net")
    }

    /// The whole of a small file; nothing where it cannot be read.
    static func read(_ path: String) -> String {
        // The kernel gives such a file a page at a time, and Foundation takes a short read for its end.
        guard let file = try? OpenFile(reading: path) else { return "" }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while let count = try? buffer.withUnsafeMutableBytes({ try file.fill($0) }), count > 0, content.count < 16 << 20
        {
            content += buffer[..<count]
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Lines are `sl local_address rem_address st queues tr retransmits uid timeout inode ...`.
    private static func inodes(_ path: String, _ port: UInt16) -> [(inode: String, user: Int)] {
        let suffix = ":" + String(port, radix: 16, uppercase: true)
        return read(path).split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[1].hasSuffix(suffix) else { return nil }
            return (String(fields[9]), Int(fields[7]) ?? -1)
        }
    }

    private static func socketOwners() -> [String: Int] {
        var owners: [String: Int] = [:]
        for process in processes() {
            for entry in entries("/proc/\(process)/fd") {
                let path = "/proc/\(process)/fd/\(entry)"
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
                    target.hasPrefix("socket:[")
                else { continue }
                owners[String(target.dropFirst(8).dropLast())] = process
            }
        }
        return owners
    }

    private static func processes() -> [Int] { entries("/proc").compactMap { Int($0) } }

    private static func command(of process: Int) -> String? {
        read("/proc/\(process)/comm").split(separator: "\n").first.map(String.init)
    }

    private static func entries(_ path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }
}
