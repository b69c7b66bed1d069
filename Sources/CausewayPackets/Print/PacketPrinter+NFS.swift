/// Prints NFS calls, versions 2 and 3 (RFC 1094, RFC 1813). For version 4 (RFC 7530), prints only that the call is a
/// compound.
extension PacketPrinter {
    /// The version 3 procedures, by number.
    enum NFSProcedure: UInt32 {
        case null, getattr, setattr, lookup, access, readlink, read, write, create, mkdir, symlink, mknod, remove
        case rmdir, rename, link, readdir, readdirplus, fsstat, fsinfo, pathconf, commit
        /// An obsolete or unassigned procedure of version 2. The value 25 is free, because version 3 has no procedure
        /// with this number.
        case nop = 25

        /// The version 2 procedures, by number.
        private static let second: [NFSProcedure] = [
            .null, .getattr, .setattr, .nop, .lookup, .readlink, .read, .nop, .write, .create, .remove, .rename, .link,
            .symlink, .mkdir, .rmdir, .readdir, .fsstat, .nop, .nop, .nop, .nop, .nop, .nop, .nop, .nop,
        ]

        init?(_ procedure: RemoteProcedure) {
            if procedure.version == 3 {
                self.init(rawValue: procedure.number)
            } else if procedure.number < Self.second.count {
                self = Self.second[Int(procedure.number)]
            } else {
                return nil
            }
        }
    }

    private static let procedureNames: [StaticString] = [
        " null", " getattr", " setattr", " lookup", " access", " readlink", " read", " write", " create", " mkdir",
        " symlink", " mknod", " remove", " rmdir", " rename", " link", " readdir", " readdirplus", " fsstat", " fsinfo",
        " pathconf", " commit",
    ]

    /// The version 4 COMPOUND procedure (RFC 7530).
    static let nfsCompound: UInt32 = 1

    /// Prints a procedure's name. Returns the procedure if its arguments can be printed.
    mutating func nfsName(_ procedure: RemoteProcedure) -> NFSProcedure? {
        if procedure.version == 4, procedure.number == Self.nfsCompound {
            out.put(" compound")
            return nil
        }
        guard let known = NFSProcedure(procedure) else {
            put(" proc-", procedure.number)
            return nil
        }
        out.put(known == .nop ? " nop" : Self.procedureNames[Int(known.rawValue)])
        return known == .nop || known == .null ? nil : known
    }

    mutating func nfsRequest(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) throws(WireError) {
        put("", length)
        let procedure = RemoteProcedure(version: try p.u32(16), number: try p.u32(20))
        remember(try p.u32(0), procedure, carrier)
        guard let known = nfsName(procedure) else { return }
        guard var offset = try argumentsOfCall(p, length) else { throw .invalid("authentication length", at: 24) }
        let isThird = procedure.version == 3
        try fileHandle(p, &offset, isThird)
        switch known {
        case .lookup, .create, .mkdir, .remove, .rmdir: try namedFile(p, &offset)
        case .access: try accessRights(try p.u32(offset))
        case .read: try readArguments(p, offset, isThird)
        case .write: try writeArguments(p, offset, isThird)
        case .symlink, .mknod: try newSpecialFile(known, p, &offset, isThird)
        case .rename:
            try namedFile(p, &offset)
            out.put(" ->")
            try fileHandle(p, &offset, isThird)
            try namedFile(p, &offset)
        case .link:
            out.put(" ->")
            try fileHandle(p, &offset, isThird)
            try namedFile(p, &offset)
        case .readdir, .readdirplus: try directoryArguments(known, p, offset, isThird)
        case .commit:
            let place = try p.u64(offset)
            put(" ", try p.u32(offset + 8))
            put(" bytes @ ", place)
        case .null, .getattr, .setattr, .readlink, .fsstat, .fsinfo, .pathconf, .nop: break
        }
    }

    private mutating func namedFile(_ p: borrowing ByteView, _ offset: inout Int) throws(WireError) {
        out.put(" ")
        try fileName(p, &offset)
    }

    /// The mask for all access rights (RFC 1813 §3.3.4). Higher bits are unassigned.
    private static let allRights: UInt32 = 0x3F

    private static let rights: [(UInt32, StaticString)] = [
        (1, "NFS_ACCESS_READ"), (2, "NFS_ACCESS_LOOKUP"), (4, "NFS_ACCESS_MODIFY"), (8, "NFS_ACCESS_EXTEND"),
        (16, "NFS_ACCESS_DELETE"), (32, "NFS_ACCESS_EXECUTE"),
    ]

    private mutating func accessRights(_ rights: UInt32) throws(WireError) {
        switch rights {
        case 0: break
        case Self.allRights: out.put(" NFS_ACCESS_FULL")
        case (Self.allRights + 1)...: putHex(" ", rights, width: 4)
        default:
            var separator: StaticString = " "
            for (bit, name) in Self.rights where rights & bit != 0 {
                out.put(separator)
                out.put(name)
                separator = "|"
            }
        }
    }

    private mutating func readArguments(
        _ p: borrowing ByteView, _ offset: Int, _ isThird: Bool
    ) throws(WireError) {
        let count = try p.u32(offset + (isThird ? 8 : 4))
        put(" ", count)
        put(" bytes @ ", isThird ? try p.u64(offset) : UInt64(try p.u32(offset)))
    }

    private mutating func writeArguments(
        _ p: borrowing ByteView, _ offset: Int, _ isThird: Bool
    ) throws(WireError) {
        guard isThird else {
            put(" ", try p.u32(offset + 12))
            put(" (", try p.u32(offset + 8), ") bytes @ ")
            put("", try p.u32(offset + 4))
            return put(" (", try p.u32(offset), ")")
        }
        put(" ", try p.u32(offset + 16))
        put(" (", try p.u32(offset + 8), ") bytes @ ")
        put("", try p.u64(offset))
        if verbosity > 0 { writeMode(try p.u32(offset + 12)) }
    }

    /// `stable_how` values (RFC 1813 §3.3.7).
    private enum StableHow {
        static let unstable: UInt32 = 0
        static let dataSync: UInt32 = 1
        static let fileSync: UInt32 = 2
    }

    /// Prints how much written data the server stores on disk before it replies (`stable_how` in RFC 1813).
    mutating func writeMode(_ mode: UInt32) {
        switch mode {
        case StableHow.unstable: out.put(" <unstable>")
        case StableHow.dataSync: out.put(" <datasync>")
        case StableHow.fileSync: out.put(" <filesync>")
        default: put(" <#", mode, ">")
        }
    }

    private mutating func newSpecialFile(
        _ procedure: NFSProcedure, _ p: borrowing ByteView, _ offset: inout Int, _ isThird: Bool
    ) throws(WireError) {
        try namedFile(p, &offset)
        var attributes = NewAttributes()
        if procedure == .symlink {
            out.put(" ->")
            if isThird { try attributes.read(p, &offset) }
            try fileName(p, &offset)
        } else {
            let type = try p.u32(offset)
            offset += 4
            try attributes.read(p, &offset)
            out.put(" ")
            fileType(type)
            if verbosity > 0, type == NFSFileType.blockDevice || type == NFSFileType.characterDevice {
                put(" ", try p.u32(offset))
                put("/", try p.u32(offset + 4))
            }
        }
        if verbosity > 0, isThird { put(attributes) }
    }

    private mutating func directoryArguments(
        _ procedure: NFSProcedure, _ p: borrowing ByteView, _ offset: Int, _ isThird: Bool
    ) throws(WireError) {
        guard isThird else {
            put(" ", try p.u32(offset + 4))
            return put(" bytes @ ", try p.u32(offset))
        }
        put(" ", try p.u32(offset + 16))
        // A cookie is opaque to the client. By convention it is printed as a signed number.
        put(" bytes @ ", Int64(bitPattern: try p.u64(offset)))
        guard verbosity > 0 else { return }
        if procedure == .readdirplus { put(" max ", try p.u32(offset + 20)) }
        putHex(" verf ", try p.u64(offset + 8), width: 16)
    }
}
