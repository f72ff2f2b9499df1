// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {DepositBox} from "./DepositBox.sol";

/// Terms of one payment, signed by the service (EIP-712): the chain holds price, recipient and deadline.
struct Order {
    /// The service's own number of it.
    bytes32 ref;
    /// Whose fee this is, as left-aligned ASCII: "svc_dev", "payments", "bridge" and so on.
    bytes32 source;
    /// Gets the amount without the fee. Zero where the whole amount is the fee, as for an API key.
    address payee;
    /// Wei to pay.
    uint256 amount;
    /// Wei of the amount that are the platform's.
    uint256 fee;
    /// The last block time, in Unix seconds, at which `pay` takes the order.
    uint64 validUntil;
}

/// @title Takes the platform's payments and passes each one on in the same transaction.
/// @notice Of a fee 30 % are burned and the rest goes to the treasury; what is no fee goes to the payee. The contract
///         keeps nothing but what a recipient would not take.
/// @dev An order's id is its EIP-712 digest: other terms are another order, and no voucher of one chain or contract
///      counts for another. test/genesis/contracts/ holds the invariants: the balance is what is owed; no wei appears
///      or disappears; an order is paid once, exactly, in time; totals are what treasury and burn sink got.
contract FeeCollector is EIP712, Ownable2Step, ReentrancyGuardTransient {
    /// What came in for one order, by either way.
    struct Receipt {
        uint128 received;
        /// Wei of it that were taken as fee.
        uint128 fee;
    }

    /// Sums over all orders of a source.
    struct Totals {
        uint128 fees;
        uint128 burned;
    }

    /// @notice An order was paid whole by `pay`.
    event Paid(
        bytes32 indexed id,
        bytes32 indexed source,
        address indexed payer,
        address payee,
        uint256 amount,
        uint256 fee,
        uint256 burned
    );
    /// @notice `amount` was passed on from an order's deposit box; `received` is all that has come in for the order.
    event Collected(
        bytes32 indexed id,
        bytes32 indexed source,
        address payee,
        uint256 amount,
        uint256 fee,
        uint256 burned,
        uint256 received
    );
    /// @notice A recipient did not take its share, which waits here for `withdraw`.
    event Owed(address indexed creditor, uint256 amount);
    event Withdrawn(address indexed creditor, address to, uint256 amount);
    event SignerChanged(bytes32 indexed source, address indexed signer, bool allowed);
    event TreasuryChanged(address treasury);

    error BadOrder();
    error NotSigned(address recovered);
    error WrongAmount(uint256 expected, uint256 sent);
    error Expired(uint64 validUntil);
    error AlreadyPaid(bytes32 id);
    error MoneyInBox(bytes32 id, address box);
    error NothingToCollect(bytes32 id);
    error NothingOwed();
    error NotPayable();
    error BadAddress();

    uint256 public constant BURN_BASIS_POINTS = 3000;
    uint256 private constant WHOLE_BASIS_POINTS = 10_000;

    /// A Safe's fallback fits in; a recipient that wants more becomes a creditor. The 63rd part that EIP-150 leaves a
    /// caller whose recipient ran dry is too little to book a debt: a low gas limit fails the payment as a whole.
    uint256 private constant RECIPIENT_GAS = 60_000;

    bytes32 private constant ORDER_TYPEHASH =
        keccak256("Order(bytes32 ref,bytes32 source,address payee,uint256 amount,uint256 fee,uint64 validUntil)");
    bytes32 private constant BOX_INIT_HASH = keccak256(type(DepositBox).creationCode);
    /// The code of the burn sink: one byte, STOP. It takes tokens, and no code and no key can send them on.
    bytes32 private constant SINK_CODE_HASH = keccak256(hex"00");

    address public immutable BURN_SINK;
    address public treasury;
    /// Wei that wait for creditors.
    uint256 public owedTotal;
    mapping(address creditor => uint256 amount) public owed;
    mapping(bytes32 id => Receipt) public booked;
    mapping(bytes32 source => Totals) public totals;
    mapping(bytes32 source => mapping(address signer => bool)) public isSigner;

    /// The one sender that `receive` takes money from, while a box is released.
    address private transient openBox;

    constructor(address owner_, address treasury_, address burnSink)
        EIP712("Tollgate FeeCollector", "1")
        Ownable(owner_)
    {
        if (burnSink.codehash != SINK_CODE_HASH) revert BadAddress();
        BURN_SINK = burnSink;
        _changeTreasury(treasury_);
    }

    /// @notice Pays an order whole: its amount to the wei, once, in time. Anybody may pay for anybody.
    function pay(Order calldata order, bytes calldata signature) external payable nonReentrant returns (bytes32 id) {
        id = _verify(order, signature);
        if (msg.value != order.amount) revert WrongAmount(order.amount, msg.value);
        if (block.timestamp > order.validUntil) revert Expired(order.validUntil);
        if (booked[id].received != 0) revert AlreadyPaid(id);
        // A transfer has begun to pay this order; what is left is for its box, or the payer would pay twice.
        if (order.payee != address(0)) {
            address box = boxOf(id);
            if (box.balance != 0) revert MoneyInBox(id, box);
        }

        uint256 burned = _book(order.source, id, order.amount, order.fee);
        emit Paid(id, order.source, msg.sender, order.payee, order.amount, order.fee, burned);
        _passOn(order.payee, order.amount - order.fee, order.fee - burned, burned);
    }

    /// @notice Passes on what lies in an order's box. Anybody may call it, at any time, whenever something lies there.
    /// @dev The fee grows with what has come in and ends at the order's: what is paid too much is the payee's.
    function collect(Order calldata order, bytes calldata signature) external nonReentrant returns (uint256 amount) {
        bytes32 id = _verify(order, signature);
        if (order.payee == address(0)) revert BadOrder();
        address box = boxOf(id);
        amount = box.balance;
        if (amount == 0) revert NothingToCollect(id);

        uint256 received = booked[id].received + amount;
        uint256 feeDue = received < order.amount ? (order.fee * received) / order.amount : order.fee;
        uint256 fee = feeDue - booked[id].fee;
        uint256 burned = _book(order.source, id, received, feeDue);
        emit Collected(id, order.source, order.payee, amount, fee, burned, received);

        _release(id, box);
        _passOn(order.payee, amount - fee, fee - burned, burned);
    }

    /// @notice Sends what the caller is owed to an address that takes it.
    function withdraw(address payable to) external nonReentrant {
        uint256 amount = owed[msg.sender];
        if (amount == 0) revert NothingOwed();
        delete owed[msg.sender];
        owedTotal -= amount;
        emit Withdrawn(msg.sender, to, amount);
        _sendOrRevert(to, amount);
    }

    /// @notice Who may sign orders of a source. Allow the next key before the old one is taken away.
    function setSigner(bytes32 source, address signer, bool allowed) external onlyOwner {
        if (signer == address(0)) revert BadAddress();
        isSigner[source][signer] = allowed;
        emit SignerChanged(source, signer, allowed);
    }

    function setTreasury(address treasury_) external onlyOwner {
        _changeTreasury(treasury_);
    }

    /// @notice An order's id on this chain and contract.
    function idOf(Order calldata order) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(
                    ORDER_TYPEHASH,
                    order.ref,
                    order.source,
                    order.payee,
                    order.amount,
                    order.fee,
                    order.validUntil
                )
            )
        );
    }

    /// @notice Where plain transfers for an order go to.
    function boxOf(bytes32 id) public view returns (address) {
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), id, BOX_INIT_HASH)))));
    }

    /// A stray transfer would belong to nobody here, so it is refused.
    receive() external payable {
        if (msg.sender != openBox) revert NotPayable();
    }

    function _verify(Order calldata order, bytes calldata signature) private view returns (bytes32 id) {
        // The bound keeps every sum of this contract far below 2^128, and a fee times an amount below 2^256.
        if (order.amount == 0 || order.amount > type(uint96).max || order.fee > order.amount) revert BadOrder();
        if (order.payee == address(0) && order.fee != order.amount) revert BadOrder();
        if (order.payee == address(this)) revert BadOrder();
        id = idOf(order);
        address signer = ECDSA.recoverCalldata(id, signature);
        if (!isSigner[order.source][signer]) revert NotSigned(signer);
    }

    /// Writes down what has come in for an order and what of it is fee, and answers what has to be burned now. It counts
    /// from the order's whole fee, so that a payment in many parts burns as much as one in a single part.
    function _book(bytes32 source, bytes32 id, uint256 received, uint256 feeDue) private returns (uint256 burned) {
        uint256 feeBefore = booked[id].fee;
        booked[id] = Receipt({received: uint128(received), fee: uint128(feeDue)});
        burned = _burnShare(feeDue) - _burnShare(feeBefore);
        Totals storage sums = totals[source];
        sums.fees += uint128(feeDue - feeBefore);
        sums.burned += uint128(burned);
    }

    function _burnShare(uint256 fee) private pure returns (uint256) {
        return (fee * BURN_BASIS_POINTS) / WHOLE_BASIS_POINTS;
    }

    function _release(bytes32 id, address box) private {
        if (box.code.length == 0) new DepositBox{salt: id}();
        openBox = box;
        DepositBox(payable(box)).release();
        openBox = address(0);
    }

    function _passOn(address payee, uint256 toPayee, uint256 toTreasury, uint256 toBurn) private {
        _sendOrOwe(payee, toPayee);
        _sendOrOwe(treasury, toTreasury);
        if (toBurn != 0) _sendOrRevert(BURN_SINK, toBurn);
    }

    /// A recipient must not be able to stop a payment of somebody else.
    function _sendOrOwe(address to, uint256 amount) private {
        if (amount == 0) return;
        (bool taken,) = to.call{value: amount, gas: RECIPIENT_GAS}("");
        if (taken) return;
        owed[to] += amount;
        owedTotal += amount;
        emit Owed(to, amount);
    }

    function _sendOrRevert(address to, uint256 amount) private {
        (bool taken,) = to.call{value: amount}("");
        if (!taken) revert NotPayable();
    }

    function _changeTreasury(address treasury_) private {
        if (treasury_ == address(0) || treasury_ == address(this) || treasury_ == BURN_SINK) revert BadAddress();
        treasury = treasury_;
        emit TreasuryChanged(treasury_);
    }
}
