// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title An order's own address for plain transfers.
/// @notice A QR code or a copied address leads here. The address exists (CREATE2) long before the code does, and takes
///         any amount from anybody at any time. Only the FeeCollector that made the box takes money out again.
/// @dev Without constructor arguments, so that the address of each box follows from the collector and the order's id.
contract DepositBox {
    address payable private immutable COLLECTOR;

    error OnlyCollector();
    error CollectorRefused();

    constructor() {
        COLLECTOR = payable(msg.sender);
    }

    receive() external payable {}

    /// @notice Hands all that lies here to the collector.
    function release() external {
        if (msg.sender != COLLECTOR) revert OnlyCollector();
        (bool taken,) = COLLECTOR.call{value: address(this).balance}("");
        if (!taken) revert CollectorRefused();
    }
}
