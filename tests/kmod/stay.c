// SPDX-License-Identifier: GPL-2.0
/*
 * For the stage "suspend". The guest's root file system comes over 9p, and its virtio device
 * does not survive a suspend, because its driver cannot set the queues up again. While this
 * module is loaded, QEMU's devices are not suspended: an empty power domain takes precedence
 * over the callbacks of their bus. All other devices, the CPUs and the clocks are suspended.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm.h>

static int nothing(struct device *dev)
{
	return 0;
}

static struct dev_pm_domain stay = {
	.ops = {
		SET_SYSTEM_SLEEP_PM_OPS(nothing, nothing)
		SET_LATE_SYSTEM_SLEEP_PM_OPS(nothing, nothing)
		SET_NOIRQ_SYSTEM_SLEEP_PM_OPS(nothing, nothing)
	},
};

static int set_domains(struct dev_pm_domain *domain)
{
	struct pci_dev *pdev = NULL;
	int n = 0;

	for_each_pci_dev(pdev) {
		if (pdev->vendor != PCI_VENDOR_ID_REDHAT_QUMRANET)
			continue;
		pdev->dev.pm_domain = domain;
		n++;
	}
	return n;
}

static int __init stay_init(void)
{
	return set_domains(&stay) ? 0 : -ENODEV;
}

static void __exit stay_exit(void)
{
	set_domains(NULL);
}

module_init(stay_init);
module_exit(stay_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Keeps the virtual machine's devices out of a suspend");
