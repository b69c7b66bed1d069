/// Prints NFS replies, versions 2 and 3. A reply's format depends on its call, so the capture must contain the call
/// too.
extension PacketPrinter {
    private enum Response {
        static let accepted: UInt32 = 0
        static let denied: UInt32 = 1
    }

    mutating func nfsReply(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) throws(WireError) {
        switch try p.u32(8) {
        case Response.accepted: put("reply ok ", length)
        case Response.denied:
            put("reply ERR ", length, ": ")
            return try rejection(p)
        case let code:
            put("reply Unknown rpc response code=", code)
            return put(" ", length)
        }
        guard let procedure = procedure(of: try p.u32(0), carrier) else { return }
        guard let known = nfsName(procedure) else {
            if procedure.version == 4, procedure.number == Self.nfsCompound { try compoundResults(p, length) }
            return
        }
        guard let start = try results(p, length) else { return }
        if procedure.version == 3 {
            try thirdResults(known, p, start)
        } else {
            try secondResults(known, p, start)
        }
    }

    private mutating func compoundResults(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        guard var offset = try results(p, length) else { return }
        _ = try status(p, &offset)
    }

    // MARK: Version 2

    private mutating func secondResults(
        _ procedure: NFSProcedure, _ p: borrowing ByteView, _ start: Int
    ) throws(WireError) {
        var offset = start
        guard try status(p, &offset) else { return }
        switch procedure {
        case .getattr, .setattr:
            // Always print the attributes, because they are the result of GETATTR and SETATTR.
            try fileAttributes(p, &offset, false, detail: 1)
        case .read, .write: try fileAttributes(p, &offset, false, detail: verbosity)
        case .lookup, .create, .mkdir:
            try fileHandle(p, &offset, false)
            try fileAttributes(p, &offset, false, detail: verbosity)
        case .readlink:
            out.put(" ")
            try fileName(p, &offset)
        case .readdir:
            putHex(" offset 0x", try p.u32(offset))
            put(" size ", try p.u32(offset + 4), " ")
            if try p.u32(offset + 8) != 0 { out.put(" eof") }
        case .fsstat:
            try p.require(20, at: offset)
            put(" tsize ", try p.u32(offset))
            put(" bsize ", try p.u32(offset + 4))
            put(" blocks ", try p.u32(offset + 8))
            put(" bfree ", try p.u32(offset + 12))
            put(" bavail ", try p.u32(offset + 16))
        case .null, .nop, .access, .symlink, .mknod, .remove, .rmdir, .rename, .link, .readdirplus, .fsinfo, .pathconf,
            .commit:
            break
        }
    }

    // MARK: Version 3

    private mutating func thirdResults(
        _ procedure: NFSProcedure, _ p: borrowing ByteView, _ start: Int
    ) throws(WireError) {
        var offset = start
        let isOK = try status(p, &offset)
        switch procedure {
        case .getattr: if isOK { try fileAttributes(p, &offset, true, detail: 1) }
        case .setattr, .remove, .rmdir: try change(p, &offset)
        case .lookup: try lookupResults(p, &offset, isOK)
        case .access:
            try attributes(" attr:", p, &offset)
            if isOK { putHex(" c ", try p.u32(offset), width: 4) }
        case .readlink:
            guard isOK else { return }
            try attributes("", p, &offset)
            out.put(" ")
            try fileName(p, &offset)
        case .read:
            try attributes("", p, &offset)
            guard isOK, verbosity > 0 else { return }
            put(" ", try p.u32(offset), " bytes")
            if try p.u32(offset + 4) != 0 { out.put(" EOF") }
        case .write: try writeResults(p, &offset, isOK)
        case .create, .mkdir, .symlink, .mknod: try creationResults(p, &offset, isOK)
        case .rename:
            guard verbosity > 0 else { return }
            out.put(" from:")
            try change(p, &offset)
            out.put(" to:")
            try change(p, &offset)
        case .link:
            guard verbosity > 0 else { return }
            try attributes(" file POST:", p, &offset)
            out.put(" dir:")
            try change(p, &offset)
        case .readdir, .readdirplus:
            try attributes(" POST:", p, &offset)
            if isOK, verbosity > 0 { putHex(" verf ", try p.u64(offset), width: 16) }
        case .fsstat, .fsinfo, .pathconf:
            try attributes(" POST:", p, &offset)
            if isOK { try fileSystem(procedure, p, offset) }
        case .commit:
            try change(p, &offset)
            if isOK, verbosity > 1 { putHex(" verf ", try p.u64(offset)) }
        case .null, .nop: break
        }
    }

    private mutating func lookupResults(
        _ p: borrowing ByteView, _ offset: inout Int, _ isOK: Bool
    ) throws(WireError) {
        if isOK {
            try fileHandle(p, &offset, true)
            try attributes("", p, &offset)
        }
        if verbosity > 1 { try attributes(" post dattr:", p, &offset) }
    }

    private mutating func writeResults(
        _ p: borrowing ByteView, _ offset: inout Int, _ isOK: Bool
    ) throws(WireError) {
        try change(p, &offset)
        guard isOK, verbosity > 0 else { return }
        put(" ", try p.u32(offset), " bytes")
        guard verbosity > 1 else { return }
        writeMode(try p.u32(offset + 4))
        putHex(" verf ", try p.u64(offset + 8))
    }

    private mutating func creationResults(
        _ p: borrowing ByteView, _ offset: inout Int, _ isOK: Bool
    ) throws(WireError) {
        guard isOK else { return try change(p, &offset) }
        let hasHandle = try p.u32(offset) != 0
        offset += 4
        guard hasHandle else { return }
        try fileHandle(p, &offset, true)
        guard verbosity > 0 else { return }
        try attributes("", p, &offset)
        guard verbosity > 1 else { return }
        out.put(" dir attr:")
        try change(p, &offset)
    }

    /// Prints the text `before`, followed by a file's attributes if the reply contains them (RFC 1813 §2.6
    /// `post_op_attr`). At verbosity 0, prints nothing.
    private mutating func attributes(
        _ before: StaticString, _ p: borrowing ByteView, _ offset: inout Int
    ) throws(WireError) {
        if verbosity > 0 { out.put(before) }
        let isThere = try p.u32(offset) != 0
        offset += 4
        guard isThere else { return }
        guard verbosity > 0 else { return offset += 84 }
        try fileAttributes(p, &offset, true, detail: verbosity)
    }

    /// Prints two states of a file that an operation may have changed (RFC 1813 §2.6 `wcc_data`). The first is the size
    /// and the times before the operation. The second is all attributes after it.
    private mutating func change(_ p: borrowing ByteView, _ offset: inout Int) throws(WireError) {
        if verbosity > 1 { out.put(" PRE:") }
        let isThere = try p.u32(offset) != 0
        offset += 4
        if isThere {
            try p.require(24, at: offset)
            if verbosity > 1 {
                put(" sz ", try p.u64(offset))
                time(" mtime ", try p.u32(offset + 8), try p.u32(offset + 12))
                time(" ctime ", try p.u32(offset + 16), try p.u32(offset + 20))
            }
            offset += 24
        }
        try attributes(" POST:", p, &offset)
    }

    private mutating func fileSystem(
        _ procedure: NFSProcedure, _ p: borrowing ByteView, _ offset: Int
    ) throws(WireError) {
        switch procedure {
        case .fsstat:
            try p.require(52, at: offset)
            put(" tbytes ", try p.u64(offset))
            put(" fbytes ", try p.u64(offset + 8))
            put(" abytes ", try p.u64(offset + 16))
            guard verbosity > 0 else { return }
            put(" tfiles ", try p.u64(offset + 24))
            put(" ffiles ", try p.u64(offset + 32))
            put(" afiles ", try p.u64(offset + 40))
            put(" invar ", try p.u32(offset + 48))
        case .fsinfo: try serverInformation(p, offset)
        default:
            try p.require(24, at: offset)
            put(" linkmax ", try p.u32(offset))
            put(" namemax ", try p.u32(offset + 4))
            let flags: [StaticString] = ["notrunc", "chownres", "igncase", "keepcase"]
            for (place, name) in flags.enumerated() {
                out.put(" ")
                if try p.u32(offset + 8 + 4 * place) != 0 { out.put(name) }
            }
        }
    }

    private mutating func serverInformation(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        // The reply's last word contains the file system's properties. This method does not print it.
        try p.require(48, at: offset)
        put(" rtmax ", try p.u32(offset))
        put(" rtpref ", try p.u32(offset + 4))
        put(" wtmax ", try p.u32(offset + 12))
        put(" wtpref ", try p.u32(offset + 16))
        put(" dtpref ", try p.u32(offset + 24))
        guard verbosity > 0 else { return }
        put(" rtmult ", try p.u32(offset + 8))
        put(" wtmult ", try p.u32(offset + 20))
        put(" maxfsz ", try p.u64(offset + 28))
        time(" delta ", try p.u32(offset + 36), try p.u32(offset + 40))
        out.put(" ")
    }
}
