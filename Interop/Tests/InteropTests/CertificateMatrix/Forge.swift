import Foundation
import Testing

/// The parameters for one test certificate, which OpenSSL creates.
struct Recipe: Sendable {
    var id: String
    /// The recipe whose key signs the certificate; `nil` for its own key.
    var issuer: String?
    var key: String
    var subject: String
    /// The certificate's extensions, as pairs of name and value for the OpenSSL configuration.
    var extensions: [(name: String, value: String)]
    /// The validity period, in the format of `openssl ca`. `nil` for 30 days from now.
    var dates: (String, String)?
    /// Further options for `openssl x509`.
    var options: [String] = []

    /// Returns the recipe for creating a server certificate. Except for the given changes, the certificate is valid.
    static func leaf(
        _ id: String, by issuer: String? = "root", key: String = "leaf", names: String = "DNS:server.test",
        subject: String = "/CN=leaf", changing changes: [String: String] = [:], dates: (String, String)? = nil,
        options: [String] = []
    ) -> Recipe {
        let sound = [
            ("basicConstraints", "critical,CA:FALSE"), ("keyUsage", "critical,digitalSignature"),
            ("extendedKeyUsage", "serverAuth"), ("subjectKeyIdentifier", "hash"), ("authorityKeyIdentifier", "keyid"),
            ("subjectAltName", names),
        ]
        return Recipe(
            id: id, issuer: issuer, key: key, subject: subject, extensions: changed(sound, changes), dates: dates,
            options: options)
    }

    /// Returns the recipe for an authority's certificate. By default, the key has the authority's name.
    static func authority(
        _ id: String, by issuer: String? = "root", key: String? = nil, subject: String? = nil,
        changing changes: [String: String] = [:], dates: (String, String)? = nil, options: [String] = []
    ) -> Recipe {
        let sound = [
            ("basicConstraints", "critical,CA:TRUE"), ("keyUsage", "critical,keyCertSign,cRLSign"),
            ("subjectKeyIdentifier", "hash"), ("authorityKeyIdentifier", issuer == nil ? "" : "keyid"),
        ]
        return Recipe(
            id: id, issuer: issuer, key: key ?? id, subject: subject ?? "/CN=Matrix \(id)",
            extensions: changed(sound, changes), dates: dates, options: options)
    }

    /// Changes the extensions of a certificate recipe. An empty value removes the extension.
    private static func changed(
        _ sound: [(String, String)], _ changes: [String: String]
    ) -> [(name: String, value: String)] {
        let kept = sound.map { (name: $0.0, value: changes[$0.0] ?? $0.1) }
        let known = Set(sound.map(\.0))
        let added = changes.filter { !known.contains($0.key) }.sorted { $0.key < $1.key }
        return (kept + added.map { (name: $0.key, value: $0.value) }).filter { !$0.value.isEmpty }
    }
}

/// Creates keys and certificates with the `openssl` command. Each is created on its first use.
final class Forge {
    private let scratch: Scratch
    private let folder: URL
    private let recipes: [String: Recipe]
    private var made: Set<String> = []

    init(_ recipes: [Recipe], in scratch: Scratch) throws {
        self.scratch = scratch
        self.recipes = Dictionary(uniqueKeysWithValues: recipes.map { ($0.id, $0) })
        folder = try scratch.newDirectory("matrix")
        try write("", to: "index.txt")
        try write(
            """
            [ca]
            default_ca = all
            [all]
            database = \(path("index.txt"))
            new_certs_dir = \(folder.path)
            rand_serial = yes
            policy = any
            unique_subject = no
            default_md = sha256
            [any]
            commonName = optional
            [req]
            distinguished_name = none
            [none]

            """, to: "ca.conf")
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    func openssl(_ arguments: [String]) async throws {
        let program = try scratch.startOpenSSL(arguments)
        try #require(
            try await program.finished() == 0, "openssl \(arguments.joined(separator: " ")): \(program.errors)")
    }

    /// Creates a private key file if needed, and returns its path. The name up to the first hyphen selects the key
    /// type. The default is P-256.
    func key(_ name: String) async throws -> String {
        let file = path("\(name).key")
        guard made.insert("key " + name).inserted else { return file }
        let kind: [String] =
            switch name.split(separator: "-").first {
            case "rsa1024", "rsa2040", "rsa2048", "rsa3072", "rsa4096":
                ["RSA", "-pkeyopt", "rsa_keygen_bits:\(name.dropFirst(3).prefix(4))"]
            case "pss2048": ["RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"]
            case "three": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt", "rsa_keygen_pubexp:3"]
            case "ed25519": ["ED25519"]
            case "ed448": ["ED448"]
            case "p521": ["EC", "-pkeyopt", "ec_paramgen_curve:P-521"]
            case "p224": ["EC", "-pkeyopt", "ec_paramgen_curve:P-224"]
            case "k256": ["EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"]
            case "p384": ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"]
            case "p192": ["EC", "-pkeyopt", "ec_paramgen_curve:prime192v1"]
            default: ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            }
        try await openssl(["genpkey", "-out", file, "-algorithm"] + kind)
        let form = name.hasPrefix("explicit") ? ["-ec_param_enc", "explicit"] : []
        try await openssl(["pkey", "-in", file, "-pubout", "-out", path("\(name).pub")] + form)
        return file
    }

    /// Returns the file of a certificate.
    func certificate(_ id: String) async throws -> String {
        let file = path("\(id).pem")
        guard made.insert("certificate " + id).inserted else { return file }
        let recipe = try #require(recipes[id], "there is no recipe \(id)")
        let key = try await key(recipe.key)
        // Make a certificate in the way that common instructions recommend: `openssl req -x509` with its default
        // settings.
        if recipe.options == ["plain"] {
            let names = recipe.extensions.first { $0.name == "subjectAltName" }.map {
                ["-addext", "subjectAltName=\($0.value)"]
            }
            try await openssl(
                ["req", "-x509", "-new", "-key", key, "-subj", recipe.subject, "-days", "30", "-out", file]
                    + (names ?? []))
            return file
        }
        try write(recipe.extensions.map { "\($0.name)=\($0.value)\n" }.joined(), to: "\(id).ext")
        var signer = ["-key", key]
        if let issuer = recipe.issuer {
            let issuerKey = try await self.key(try #require(recipes[issuer]).key)
            signer = [
                "-CA", try await certificate(issuer), "-CAkey", issuerKey, "-force_pubkey", path("\(recipe.key).pub"),
            ]
        }
        guard let dates = recipe.dates else {
            let extensions = recipe.extensions.isEmpty ? [] : ["-extfile", path("\(id).ext")]
            try await openssl(
                ["x509", "-new", "-subj", recipe.subject, "-days", "30", "-out", file] + signer + extensions
                    + recipe.options)
            return file
        }
        try await dated(recipe, dates, key, file)
        return file
    }

    private func dated(_ recipe: Recipe, _ dates: (String, String), _ key: String, _ file: String) async throws {
        let request = path("\(recipe.id).csr")
        try await openssl(
            ["req", "-new", "-config", path("ca.conf"), "-key", key, "-subj", recipe.subject, "-out", request])
        var signer = ["-selfsign", "-keyfile", key]
        if let issuer = recipe.issuer {
            signer = [
                "-cert", try await certificate(issuer), "-keyfile",
                try await self.key(try #require(recipes[issuer]).key),
            ]
        }
        try await openssl(
            ["ca", "-config", path("ca.conf"), "-batch", "-notext", "-startdate", dates.0, "-enddate", dates.1]
                + ["-extfile", path("\(recipe.id).ext"), "-in", request, "-out", file] + signer)
    }

    /// Creates one file with several certificates in the given order.
    func bundle(_ ids: [String], as name: String) async throws -> String {
        var text = ""
        for id in ids { text += try String(contentsOfFile: try await certificate(id), encoding: .utf8) }
        try write(text, to: name)
        return path(name)
    }

    /// Changes the last byte of a certificate, so that the signature becomes invalid.
    func damage(_ id: String, as name: String) async throws {
        let text = try String(contentsOfFile: try await certificate(id), encoding: .utf8)
        let body = text.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        var der = try #require(Data(base64Encoded: body))
        der[der.count - 1] ^= 1
        made.insert("certificate " + name)
        let block = der.base64EncodedString(options: .lineLength64Characters)
        try write("-----BEGIN CERTIFICATE-----\n\(block)\n-----END CERTIFICATE-----\n", to: "\(name).pem")
    }
}
