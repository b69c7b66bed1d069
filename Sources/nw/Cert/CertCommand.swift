import ArgumentParser
import Causeway
import CausewayTLS
import CausewayTypes
import FoundationEssentials

/// `nw cert`: makes a test authority, and server and client certificates signed by it.
struct CertCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "cert",
        abstract: "Make a test authority, a server and a client certificate.",
        usage: "nw cert [<options>] [NAME...]",
        discussion: """
            Writes ca.pem, server.pem and client.pem, and their private keys ca.key.pem, server.key.pem and \
            client.key.pem, which only this user can read. NAME is a host name or an address of the server; without \
            one, the server is localhost and this host. An authority that is in the directory already signs the new \
            certificates; other files are not replaced.

            The authority is for tests: give ca.pem to the programs that are tested, and do not add it to the \
            authorities of a system. A holder of ca.key.pem can pose as any server to clients that trust ca.pem.

            Examples:
              nw cert                            localhost and this host
              nw cert -d pki www.test 192.0.2.7  a server with these names
              nw serve echo --port 7443 --tls --cert server.pem \\
                --key server.key.pem --ca ca.pem
              nw cat --tls --ca ca.pem --cert client.pem \\
                --key client.key.pem localhost 7443
            """)

    @Option(
        name: [.customShort("d"), .long], help: ArgumentHelp("Write the files to this directory.", valueName: "dir"))
    var directory = "."

    @Option(help: ArgumentHelp("Set the name of the client.", valueName: "name"))
    var client = "client"

    @Option(help: ArgumentHelp("The certificates are valid for this many days.", valueName: "days"))
    var days = 90

    @Flag(name: .shortAndLong, help: "Replace existing files, also those of an authority.")
    var force = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @Argument(help: ArgumentHelp("Names and addresses of the server.", valueName: "name"))
    var names: [String] = []

    func validate() throws {
        // Limit the validity to 825 days, because some systems reject certificates that are valid for longer.
        guard (1...825).contains(days) else { throw ValidationError("--days must be 1 to 825.") }
        guard (1...64).contains(client.utf8.count) else { throw ValidationError("--client has 1 to 64 bytes.") }
        for name in names where TestCertificates.alternativeName(name) == nil {
            throw ValidationError("'\(PrintableText(foreign: name).text)' is not a host name or an address.")
        }
    }

    func run() async throws {
        try await reporting("cert") {
            let subjects =
                names.isEmpty ? TestCertificates.localNames : names.compactMap(TestCertificates.alternativeName)
            let maker = TestCertificates(days: days)
            let folder = CertificateFolder(directory, replaces: force)
            try folder.check()
            do {
                let kept = try folder.authority()
                let authority = try kept ?? maker.authority()
                if kept == nil { try folder.store(authority, as: .ca) }
                let server = try maker.server(subjects, by: authority)
                try folder.store(server, as: .server)
                let client = try maker.client(client, by: authority)
                try folder.store(client, as: .client)
                let report = Report(folder, authority, isNew: kept == nil, server, subjects)
                printLine(json ? PrintableText(json: report) : report.text(client: self.client))
            } catch let failure as TLSFailure {
                throw CommandFailure("cannot make a certificate", failure)
            }
        }
    }

    /// The files made, as JSON.
    private struct Report: Encodable {
        var authority: String
        var isNew: Bool
        var server: String
        var client: String
        var names: [String]
        var notAfter: String
        /// The SHA-256 digest of the authority's certificate, in hexadecimal.
        var sha256: String

        init(
            _ folder: CertificateFolder, _ authority: TLSIdentity, isNew: Bool, _ server: TLSIdentity,
            _ subjects: [SubjectAlternativeName]
        ) {
            self.authority = folder.path(.ca)
            self.isNew = isNew
            self.server = folder.path(.server)
            client = folder.path(.client)
            names = Presented.names(of: server.certificates[0])
            notAfter = Date(timeIntervalSince1970: Double(server.certificates[0].notAfter)).formatted(.iso8601)
            sha256 = FileChecksum(authority.certificates[0].fingerprint).text
        }

        func text(client name: String) -> PrintableText {
            PrintableText(lines: [
                "\(authority)  the authority\(isNew ? "" : ", which was there already"), SHA-256 \(sha256)",
                "\(server)  the server \(names.joined(separator: ", "))",
                "\(client)  the client \(name)",
                "valid until \(notAfter); the private keys end in .key.pem",
            ])
        }
    }
}
