/// Prints the protocols over TCP.
extension PacketPrinter {
    /// Ports whose protocols are supported.
    private enum Port {
        static let ftp: UInt16 = 21
        static let ssh: UInt16 = 22
        static let smtp: [UInt16] = [25, 587]
        static let domain: UInt16 = 53
        static let http: [UInt16] = [80, 8080, 3128]
        static let rtsp: [UInt16] = [554, 8554]
        static let bgp: UInt16 = 179
        static let redis: UInt16 = 6379
        static let openFlow: [UInt16] = [6633, 6653]
    }

    /// Prints the payload if a port identifies its protocol.
    mutating func tcpContent(
        _ p: borrowing ByteView, _ length: Int, _ source: UInt16, _ destination: UInt16, _ flags: TCPHeader.Flags,
        _ carrier: Carrier
    ) throws(WireError) {
        func either(_ port: UInt16) -> Bool { source == port || destination == port }
        func either(_ ports: [UInt16]) -> Bool { ports.contains(source) || ports.contains(destination) }
        // A reset's payload is its reason (RFC 9293 §3.5.3).
        if flags.contains(.rst) {
            if verbosity > 0 { try resetReason(p, length) }
            return
        }
        if options.expectsDNS || either(Port.domain) { return try dns(p, length, isStream: true, isMulticast: false) }
        if either(Port.ssh) { return ssh(p) }
        // BGP messages are too long for one line, so only the protocol's name is printed.
        if either(Port.bgp) { return out.put(": BGP") }
        if either(Port.openFlow) { return try openFlow(p, length) }
        if either(Port.redis) { return try resp(p, length) }
        if either(Self.nfsPort) { return try nfsRecord(p, length, (source, destination), carrier) }
        if let proto = Self.textProtocol(either) {
            out.put(": ")
            return textLines(proto, p, length)
        }
        if let hello = ClientHello(p) { clientHello(hello) }
    }

    private static func textProtocol(_ either: ([UInt16]) -> Bool) -> TextProtocol? {
        if either([Port.ftp]) { return TextProtocol(name: "FTP", part: "ftp", words: ftpWords) }
        if either(Port.smtp) { return TextProtocol(name: "SMTP", part: "smtp", words: smtpWords) }
        if either(Port.http) { return TextProtocol(name: "HTTP", part: "http", status: .second, words: httpWords) }
        if either(Port.rtsp) { return TextProtocol(name: "RTSP", part: "rtsp", status: .second, words: rtspWords) }
        return nil
    }

    /// Prints the server name and the application protocols in a TLS ClientHello.
    mutating func clientHello(_ hello: ClientHello) {
        out.put(": TLS ClientHello")
        if let name = hello.serverName {
            out.put(", SNI ")
            for byte in name.utf8 { visible(byte) }
        }
        for (index, name) in hello.protocols.enumerated() {
            out.put(index == 0 ? ", ALPN " : ",")
            for byte in name.utf8 { visible(byte) }
        }
    }

    private mutating func resetReason(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        out.put(length > 30 ? " [RST+ " : " [RST ")
        visible(p.prefix(min(length, 30)))
        out.put("]")
        try p.require(length, at: 0)
    }

    /// Prints an SSH connection's first line, which contains the version.
    private mutating func ssh(_ p: borrowing ByteView) {
        var index = 0
        guard p.count >= 4, p[0] == 0x53, p[1] == 0x53, p[2] == 0x48, p[3] == 0x2D else { return }
        out.put(": SSH: ")
        while index < p.count, p[index] != 0x0A, p[index] != 0x0D {
            guard p[index] >= 0x20, p[index] < 0x7F else { break }
            out.put(byte: p[index])
            index += 1
        }
    }

    private static let httpWords = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "PROPFIND", "PROPPATCH",
        "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "SEARCH", "NOTIFY", "POLL", "SUBSCRIBE", "UNSUBSCRIBE", "BCOPY",
        "BDELETE", "BMOVE", "BPROPFIND", "BPROPPATCH", "ORDERPATCH",
    ]
    private static let smtpWords = [
        "EHLO", "HELO", "MAIL", "RCPT", "DATA", "RSET", "VRFY", "EXPN", "NOOP", "QUIT", "HELP", "SEND", "SOML", "SAML",
        "TURN", "STARTTLS", "AUTH",
    ]
    private static let ftpWords = [
        "ACCT", "APPE", "CWD", "DELE", "HELP", "LIST", "MDTM", "MKD", "MODE", "NLST", "NOOP", "PASS", "PASV", "PORT",
        "PWD", "QUIT", "RETR", "RMD", "RNFR", "RNTO", "SITE", "SIZE", "STAT", "STOR", "STOU", "STRU", "SYST", "TYPE",
        "USER", "AUTH", "EPSV", "EPRT", "FEAT", "OPTS", "CDUP", "ABOR", "ALLO", "REIN", "REST", "SMNT",
    ]
    private static let rtspWords = [
        "DESCRIBE", "ANNOUNCE", "GET_PARAMETER", "OPTIONS", "SET_PARAMETER", "PLAY", "PAUSE", "SETUP", "RECORD",
        "TEARDOWN", "REDIRECT",
    ]
}
