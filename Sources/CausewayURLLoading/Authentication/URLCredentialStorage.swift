internal import CausewaySystem
public import Foundation

/// The key of an option of ``URLCredentialStorage/remove(_:for:options:)``. The value `true` allows the removal of a
/// credential that is synchronized between devices.
public let NSURLCredentialStorageRemoveSynchronizableCredentials =
    "NSURLCredentialStorageRemoveSynchronizableCredentials"

extension NSNotification.Name {
    /// Posted after a ``URLCredentialStorage`` has changed.
    public static let NSURLCredentialStorageChanged =
        NSNotification.Name("NSURLCredentialStorageChangedNotification")
}

/// A store of credentials, grouped by protection space.
///
/// The shared storage keeps permanent credentials in the desktop's Secret Service, if one runs with an unlocked keyring. Otherwise, and
/// with `CAUSEWAY_CREDENTIALS=file`, it keeps them in a file below `$XDG_DATA_HOME/causeway`, which only the user can read and which is not
/// encrypted. Credentials that were once in the service are not written to the file: while the service is unavailable, the storage has only
/// the credentials of this process. A storage that a program creates, and all storages in test runners, are in memory only.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: a lock guards the table. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLCredentialStorage: NSObject, @unchecked Sendable {
    private static let sharedStorage = URLCredentialStorage(
        directory: StoreDirectory.application,
        place: .current(StoreDirectory.programName, in: ProcessInfo.processInfo.environment))
    private let table: LockedValue<CredentialTable>
    private let vault: CredentialVault?
    /// The writer for the file; `nil` without a file. It is set after all other properties, because its closure refers
    /// to this object.
    private let writer = LockedValue<StoreWriter?>(nil)

    /// Creates an empty storage in memory.
    public override init() {
        table = LockedValue(CredentialTable())
        vault = nil
        super.init()
    }

    /// Creates a storage with a file, or in memory if `directory` is `nil`.
    ///
    /// - Parameters:
    ///   - directory: The file's directory.
    ///   - place: Whether the Secret Service has precedence over the file.
    ///   - savesAtExit: Whether changes are also written when the process exits.
    init(directory: String?, place: CredentialVault.Place = .file, savesAtExit: Bool = true) {
        vault = directory.map {
            CredentialVault(file: PrivateFile(directory: $0, name: "credentials"), place: place)
        }
        table = LockedValue(CredentialTable(hasFile: directory != nil))
        super.init()
        guard vault != nil else { return }
        let made = StoreWriter(savesAtExit: savesAtExit) { [weak self] in self?.save() }
        writer.withLock { $0 = made }
    }

    /// The shared storage of the process.
    open class var shared: URLCredentialStorage { sharedStorage }

    /// Returns the credentials for a protection space, keyed by user name, or `nil` if there are none.
    open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        withTable { $0.entries[space]?.credentials }
    }

    /// The credentials for all protection spaces.
    open var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        withTable { $0.entries.mapValues(\.credentials) }
    }

    /// Stores a credential that has a user name. The credential becomes the default if the protection space has no
    /// default. A credential whose persistence is ``URLCredential/Persistence/none`` is not stored.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        store(credential, for: space, asDefault: false)
    }

    /// Removes a credential. Credentials that are synchronized between devices are not removed.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    /// Removes a credential.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - space: The protection space.
    ///   - options: ``NSURLCredentialStorageRemoveSynchronizableCredentials`` with `true` also removes credentials that are
    ///     synchronized between devices.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace, options: [String: Any]? = nil) {
        let all = options?[NSURLCredentialStorageRemoveSynchronizableCredentials] as? Bool ?? false
        guard credential.persistence != .synchronizable || all else { return }
        let isRemoved = withTable { $0.remove(credential, for: space) }
        if isRemoved { postChange() }
    }

    /// Returns the default credential for a protection space.
    open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        withTable { $0.defaultCredential(for: space) }
    }

    /// Stores a credential and makes it the default for the protection space.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        store(credential, for: space, asDefault: true)
    }

    /// Passes the credentials for a protection space to a completion handler.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func getCredentials(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: space))
    }

    /// Returns the credentials for a protection space on behalf of a task.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func credentials(for space: URLProtectionSpace, task: URLSessionTask) async -> [String: URLCredential]? {
        await withCheckedContinuation { continuation in
            getCredentials(for: space, task: task) { continuation.resume(returning: $0) }
        }
    }

    /// Stores a credential on behalf of a task.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: space)
    }

    /// Removes a credential on behalf of a task.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func remove(
        _ credential: URLCredential, for space: URLProtectionSpace, options: [String: Any]? = nil, task: URLSessionTask
    ) {
        remove(credential, for: space, options: options)
    }

    /// Passes the default credential for a protection space to a completion handler.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// Returns the default credential for a protection space on behalf of a task.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        await withCheckedContinuation { continuation in
            getDefaultCredential(for: space, task: task) { continuation.resume(returning: $0) }
        }
    }

    /// Stores a credential on behalf of a task, and makes it the default for the protection space.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace, task: URLSessionTask) {
        setDefaultCredential(credential, for: space)
    }

    /// Removes all credentials.
    func removeAll() {
        adoptFile()
        if withTable({ $0.removeAll() }) { postChange() }
    }

    private func store(_ credential: URLCredential, for space: URLProtectionSpace, asDefault: Bool) {
        if withTable({ $0.store(credential, for: space, asDefault: asDefault) }) { postChange() }
    }

    private func postChange() {
        writer.withLock { $0 }?.noteChange()
        NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self)
    }

    // MARK: Saved credentials

    /// Calls `body` with the credentials. Reads the saved credentials first, if this has not been done yet. If they
    /// cannot be read now, the next call tries again.
    private func withTable<Result: Sendable>(_ body: (inout CredentialTable) -> Result) -> Result {
        if let vault, !table.withLock({ $0.isLoaded }) {
            do throws(SystemError) {
                let saved = CredentialTable.decode(try vault.read() ?? [])
                table.withLock { $0.load(saved) }
            } catch {}
        }
        return table.withLock { body(&$0) }
    }

    /// Loads the credentials that other processes have saved into this process's table. A later removal then also
    /// removes these credentials.
    private func adoptFile() {
        guard let vault, let saved = try? vault.read() else { return }
        withTable { $0.adopt(CredentialTable.decode(saved)) }
    }

    /// Saves this process's changes, and adopts the credentials that other processes have saved.
    private func save() {
        // Without the saved credentials, the changes would replace other credentials of the same protection spaces.
        guard withTable({ $0.isLoaded }) else { return }
        let changes = withTable { $0.takeChanges() }
        guard let vault, !changes.isEmpty else { return }
        var merged: [URLProtectionSpace: CredentialTable.Entry] = [:]
        let isWritten = vault.update { old in
            merged = CredentialTable.merge(CredentialTable.decode(old), with: changes)
            return CredentialTable.encode(merged)
        }
        let written = merged
        table.withLock { table in
            if isWritten { table.adopt(written) } else { table.restore(changes) }
        }
    }

    /// Writes pending changes.
    func flush() { writer.withLock { $0 }?.flush() }
}

extension URLCredentialStorage {
    /// Stores a credential that a server or proxy has accepted, unless its persistence is `none`. The first credential
    /// of a protection space becomes the default.
    func keep(_ credential: URLCredential, for space: URLProtectionSpace, _ task: URLSessionTask) {
        guard credential.persistence != .none else { return }
        if defaultCredential(for: space) == nil {
            setDefaultCredential(credential, for: space, task: task)
        } else {
            set(credential, for: space, task: task)
        }
    }
}
