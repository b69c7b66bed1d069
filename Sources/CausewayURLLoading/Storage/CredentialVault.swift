internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Stores the data of a credential storage. If the desktop has a Secret Service with an unlocked keyring, the data is
/// stored there, otherwise in a file that only the user can read.
///
/// Calls block, at most two seconds for each request to the Secret Service. Once the service has stored credentials,
/// the file contains only a note that says so. If the service is unavailable while the file contains this note,
/// credentials are neither read nor written. Only the setting `CAUSEWAY_CREDENTIALS=file` then permits storing
/// credentials in the file.
struct CredentialVault: Sendable {
    enum Place: Sendable {
        /// Only the file is used, because the user has set `CAUSEWAY_CREDENTIALS=file`.
        case file
        /// The file is used because no Secret Service was found. If the file says that the service stores the
        /// credentials, this process neither reads nor writes credentials.
        case fileWithoutService
        case service(SecretServicePlace)
    }

    /// The environment variable for the storage location. `CAUSEWAY_CREDENTIALS=file` keeps the credentials in a file,
    /// even if there is a Secret Service.
    static let variable = "CAUSEWAY_CREDENTIALS"
    /// The text that the file contains while the credentials are stored in the Secret Service.
    private static let moved = Array("causeway credentials are in the Secret Service\n".utf8)

    let file: PrivateFile
    let place: Place

    /// Returns the stored bytes; `nil` if there are none, or if the Secret Service has them and is unavailable.
    ///
    /// - Throws: `SystemError` if the file cannot be read now.
    func read() throws(SystemError) -> [UInt8]? {
        let stored = try file.contents()
        let isMoved = stored == Self.moved
        guard case .service(let service) = place, case .secret(let secret?) = service.perform(.read) else {
            return isMoved ? nil : stored
        }
        return Self.joined(secret, isMoved ? [] : stored ?? [])
    }

    /// Replaces the stored bytes. No other process can change them during the call.
    ///
    /// - Parameter change: Returns the new bytes for the old bytes, which are empty if nothing was stored.
    /// - Returns: `false` if nothing was written.
    func update(_ change: ([UInt8]) -> [UInt8]) -> Bool {
        var isWritten = true
        let isReplaced = file.update { stored in
            let isMoved = stored == Self.moved
            if case .service(let service) = place, case .secret(let secret) = service.perform(.read) {
                let new = change(Self.joined(secret ?? [], isMoved ? [] : stored))
                isWritten = service.perform(.write(new)) == .written
                return isWritten ? Self.moved : stored
            }
            if case .file = place { return change(isMoved ? [] : stored) }
            isWritten = !isMoved
            return isMoved ? stored : change(stored)
        }
        return isReplaced && isWritten
    }

    /// Merges the credentials in the Secret Service with the credentials in the file. If both have credentials for a
    /// protection space, the file's credentials are used. They were stored later, when the Secret Service was not used.
    private static func joined(_ secret: [UInt8], _ stored: [UInt8]) -> [UInt8] {
        if stored.isEmpty || secret.isEmpty { return stored.isEmpty ? secret : stored }
        return CredentialTable.encode(CredentialTable.decode(secret).merging(CredentialTable.decode(stored)) { $1 })
    }
}

extension CredentialVault.Place {
    /// Returns where credentials are stored. The file is used if `CAUSEWAY_CREDENTIALS` is `file`, or if the
    /// environment variables name no socket of the session bus. Otherwise the Secret Service is used.
    static func current(_ application: String, in environment: [String: String]) -> Self {
        if environment[CredentialVault.variable] == "file" { return .file }
        let addresses = SessionBus.addresses(in: environment)
        guard !addresses.isEmpty else { return .fileWithoutService }
        return .service(SecretServicePlace(addresses: addresses, application: application))
    }
}

/// A program's secret in the Secret Service.
struct SecretServicePlace: Sendable {
    private static let patience = Duration.seconds(2)

    let addresses: [DBusAddress]
    let application: String

    /// Performs one operation. Blocks for at most two seconds.
    func perform(_ operation: SecretServiceRequest.Operation) -> SecretServiceRequest.Outcome {
        var request = SecretServiceRequest(
            operation, application: application, label: "Passwords of \(application) for web servers",
            user: System.user)
        let isComplete = SessionBus.converse(addresses, until: System.now + Self.patience) {
            request.takeOutput()
        } _: {
            request.receive($0)
            return request.outcome == nil
        }
        return request.outcome ?? .unavailable(isComplete ? "no answer" : "the session bus does not answer")
    }
}
