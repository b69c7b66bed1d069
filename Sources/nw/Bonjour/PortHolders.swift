import CausewaySystem
import FoundationEssentials

/// Finds the processes that have a UDP port open, from /proc. Without root, only the user's own processes can be inspected.
enum PortHolders {
    struct Holder: Hashable, Encodable {
        /// The process identifier; `nil` if the process belongs to another user.
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

    /// Whether a program has bound a UDP port exclusively, so that no other socket can share it.
    static func isTaken(_ port: UInt16) -> Bool {
        guard let socket = try? Socket.open(.ipv4, .datagram) else { return false }
        return (try? Socket.bindShared(socket.rawValue, to: .ipv4(bits: 0, port: port))) == nil
    }

    /// Returns the names of programs running in this network namespace. Programs in other namespaces use other interfaces and ports.
    static func runningCommands() -> Set<String> {
        let own = namespace(of: "self")
        // Only root can read the namespace of another user's process. If a namespace is unknown, count the process as
        // running in this namespace.
        let here = processes().filter { process in
            namespace(of: "\(process)").map { $0 == own } ?? true
        }
        return Set(here.compactMap { command(of: $0) })
    }

    private static func namespace(of process: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/net")
    }

    /// Returns a small file's content; empty if the file cannot be read.
    static func read(_ path: String) -> String {
        // Do not read with Foundation: it stops at the first short read, and a read of /proc returns at most one page.
        guard let file = try? OpenFile(reading: path) else { return "" }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while let count = try? buffer.withUnsafeMutableBytes({ try file.fill($0) }), count > 0, content.count < 16 << 20
        {
            content += buffer[..<count]
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Returns the inode number and user of each socket bound to a port, from a file such as /proc/net/udp. Its lines
    /// have the form `sl local_address rem_address st queues tr retransmits uid timeout inode ...`.
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
