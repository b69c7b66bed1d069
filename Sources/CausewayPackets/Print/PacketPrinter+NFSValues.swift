/// Prints values that occur in NFS calls and replies.
extension PacketPrinter {
    /// Prints the first 32 bytes of a file handle in hexadecimal digits. The printer does not decode them: only the
    /// server knows the format of the handle.
    mutating func fileHandle(_ p: borrowing ByteView, _ offset: inout Int, _ isThird: Bool) throws(WireError) {
        var count = 32
        if isThird {
            // A file handle consists of 4-byte words, so its length is rounded down to a multiple of 4.
            count = Int(try p.u32(offset)) / 4 * 4
            offset += 4
        }
        try p.require(count, at: offset)
        out.put(" fh Unknown/")
        for index in 0..<min(count, 32) { upperHex(p[offset + index]) }
        offset += count
    }

    private mutating func upperHex(_ byte: UInt8) {
        for digit in [byte >> 4, byte & 15] { out.put(byte: digit < 10 ? 0x30 + digit : 0x37 + digit) }
    }

    mutating func fileName(_ p: borrowing ByteView, _ offset: inout Int) throws(WireError) {
        let count = try p.u32(offset)
        guard count <= UInt32.max - 3 else {
            out.put("[cannot pad to 32-bit boundaries]")
            invalid()
            throw .invalid("name length", at: offset)
        }
        let padded = (Int(count) + 3) / 4 * 4
        try p.require(padded, at: offset + 4)
        out.put("\"")
        visible(p.clamped(offset + 4, offset + 4 + Int(count)))
        out.put("\"")
        offset += 4 + padded
    }

    /// File types (RFC 1094 §2.3.2 `ftype`, RFC 1813 §2.6 `ftype3`).
    enum NFSFileType {
        static let none: UInt32 = 0
        static let blockDevice: UInt32 = 3
        static let characterDevice: UInt32 = 4
        static let symbolicLink: UInt32 = 5
        static let socket: UInt32 = 6
        static let fifo: UInt32 = 7
    }

    private static let fileTypes: [StaticString] = ["NON", "REG", "DIR", "BLK", "CHR", "LNK"]

    mutating func fileType(_ type: UInt32) {
        switch type {
        case NFSFileType.none...NFSFileType.symbolicLink: out.put(Self.fileTypes[Int(type)])
        case NFSFileType.fifo: out.put("FIFO")
        default: put("unk-ft ", type)
        }
    }

    /// The attributes that a client sets (RFC 1813 §2.6 `sattr3`).
    struct NewAttributes {
        /// Seconds and nanoseconds.
        typealias Time = (UInt32, UInt32)

        var mode, user, group: UInt32?
        var accessed, modified: Time?

        mutating func read(_ p: borrowing ByteView, _ offset: inout Int) throws(WireError) {
            mode = try Self.optional(p, &offset)
            user = try Self.optional(p, &offset)
            group = try Self.optional(p, &offset)
            offset += try p.u32(offset) != 0 ? 12 : 4
            accessed = try Self.time(p, &offset)
            modified = try Self.time(p, &offset)
        }

        private static func optional(_ p: borrowing ByteView, _ offset: inout Int) throws(WireError) -> UInt32? {
            let isThere = try p.u32(offset) != 0
            offset += 4
            guard isThere else { return nil }
            defer { offset += 4 }
            return try p.u32(offset)
        }

        /// The `time_how` value before a time: `SET_TO_CLIENT_TIME` (RFC 1813 §2.6).
        private static let setToClientTime: UInt32 = 2

        /// Reads an optional time. The request contains it only if the client sets the time itself.
        private static func time(_ p: borrowing ByteView, _ offset: inout Int) throws(WireError) -> Time? {
            let isGiven = try p.u32(offset) == setToClientTime
            offset += 4
            guard isGiven else { return nil }
            defer { offset += 8 }
            return (try p.u32(offset), try p.u32(offset + 4))
        }
    }

    mutating func put(_ attributes: NewAttributes) {
        if let mode = attributes.mode { octal(" mode ", mode) }
        if let user = attributes.user { put(" uid ", user) }
        if let group = attributes.group { put(" gid ", group) }
        guard verbosity > 1 else { return }
        if let (seconds, fraction) = attributes.accessed { time(" atime ", seconds, fraction) }
        if let (seconds, fraction) = attributes.modified { time(" mtime ", seconds, fraction) }
    }

    mutating func time(_ before: StaticString, _ seconds: UInt32, _ fraction: UInt32) {
        put(before, seconds, ".")
        out.decimal(fraction, width: 6, padding: 0x30)
    }

    mutating func octal(_ before: StaticString, _ value: UInt32) {
        out.put(before)
        out.put(String(value, radix: 8))
    }

    /// Reads a file's attributes (RFC 1813 §2.6 `fattr3`, RFC 1094 §2.3.5) and prints them. If `detail` is 0, it skips
    /// the attributes and prints nothing.
    mutating func fileAttributes(
        _ p: borrowing ByteView, _ offset: inout Int, _ isThird: Bool, detail: Int
    ) throws(WireError) {
        let start = offset
        offset += isThird ? 84 : 68
        _ = try p.u32(start + 16)
        guard detail > 0 else { return }
        out.put(" ")
        let type = try p.u32(start)
        fileType(type)
        if type == NFSFileType.socket || type > NFSFileType.fifo { out.put(" ") }
        octal(" ", try p.u32(start + 4))
        // The user and group identifiers are signed: some systems use negative values for the anonymous user.
        put(" ids ", Int32(bitPattern: try p.u32(start + 12)))
        put("/", Int32(bitPattern: try p.u32(start + 16)))
        put(" sz ", isThird ? try p.u64(start + 20) : UInt64(try p.u32(start + 20)))
        guard detail > 1 else { return }
        try p.require(isThird ? 84 : 68, at: start)
        put(" nlink ", try p.u32(start + 8))
        let times: Int
        if isThird {
            put(" rdev ", try p.u32(start + 36))
            put("/", try p.u32(start + 40))
            putHex(" fsid ", try p.u64(start + 44))
            putHex(" fileid ", try p.u64(start + 52))
            times = start + 60
        } else {
            putHex(" rdev 0x", try p.u32(start + 28))
            putHex(" fsid 0x", try p.u32(start + 36))
            putHex(" nodeid 0x", try p.u32(start + 40))
            times = start + 44
        }
        time(" a/m/ctime ", try p.u32(times), try p.u32(times + 4))
        time(" ", try p.u32(times + 8), try p.u32(times + 12))
        time(" ", try p.u32(times + 16), try p.u32(times + 20))
    }

    /// Reads a call's status. Prints the error if the call failed. Returns whether it succeeded.
    mutating func status(_ p: borrowing ByteView, _ offset: inout Int) throws(WireError) -> Bool {
        let status = try p.u32(offset)
        offset += 4
        guard status != 0 else { return true }
        out.put(" ERROR: ")
        if let text = Self.failures[status] { out.put(text) } else { put("unk ", status) }
        return false
    }

    /// The error texts from RFC 1813 §2.6 (`nfsstat3`), and texts for other Unix error numbers that servers send.
    private static let failures: [UInt32: StaticString] = [
        1: "Operation not permitted", 2: "No such file or directory", 5: "Input/output error",
        6: "Device not configured", 11: "Resource deadlock avoided", 12: "Cannot allocate memory",
        13: "Permission denied", 17: "File exists", 18: "Cross-device link", 19: "Operation not supported by device",
        20: "Not a directory", 21: "Is a directory", 22: "Invalid argument", 26: "Text file busy",
        27: "File too large", 28: "No space left on device", 30: "Read-only file system", 31: "Too many links",
        45: "Operation not supported", 62: "Too many levels of symbolic links", 63: "File name too long",
        66: "Directory not empty", 69: "Disc quota exceeded", 70: "Stale NFS file handle",
        71: "Too many levels of remote in path", 99: "Write cache flushed to disk", 10001: "Illegal NFS file handle",
        10002: "Update synchronization mismatch", 10003: "READDIR/READDIRPLUS cookie is stale",
        10004: "Operation not supported", 10005: "Buffer or request is too small",
        10006: "Unspecified error on server", 10007: "Object of that type not supported",
        10008: "Request couldn't be completed in time",
    ]
}
